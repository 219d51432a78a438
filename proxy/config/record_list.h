// SPDX-License-Identifier: Apache-2.0
//
// Every record, one line each: this list is the only place to touch when a record is added. It is expanded
// twice, into the ids (record_table.h) and into the table (record_table.cc).
//
//   INTEGER(id, name, unit, minimum, maximum, default, apply, description)
//   TEXT(id, name, kind, default, apply, description)
//
// apply: kLive = a change is in force at once; kRestart = only after a restart. Names are those of Apache
// Traffic Server where it has one; own ones are under proxy.config.telltale. After a change here,
// configs/default/records.yaml and docs/config_reference.md are written anew by `./tt docs`.
//
// **Thread safety:** immutable.
// **Source:** the records of Apache Traffic Server; limits and defaults marked telltale are ours.
#pragma once

// clang-format off
#define TELLTALE_RECORDS(INTEGER, TEXT) \
  INTEGER(kExecThreadAutoconfigEnabled, "proxy.config.exec_thread.autoconfig.enabled", kSwitch, 0, 1, 1, kRestart, "1 runs one worker per core; 0 runs as many as proxy.config.exec_thread.limit says.") \
  INTEGER(kExecThreadLimit, "proxy.config.exec_thread.limit", kWorkers, 1, 256, 1, kRestart, "How many workers run when proxy.config.exec_thread.autoconfig.enabled is 0.") \
  TEXT(kHttpServerPorts, "proxy.config.http.server_ports", kServerPorts, "8080:ip-in=127.0.0.1", kRestart, "Where clients are accepted; a port without an address listens on all of them.") \
  INTEGER(kHttpKeepAliveNoActivityTimeoutIn, "proxy.config.http.keep_alive_no_activity_timeout_in", kSeconds, 1, 86400, 120, kLive, "How long a client connection may stay idle between two requests.") \
  INTEGER(kHttpTransactionNoActivityTimeoutIn, "proxy.config.http.transaction_no_activity_timeout_in", kSeconds, 1, 86400, 30, kLive, "How long a client may neither send nor take a byte while a request is under way.") \
  INTEGER(kHttpRequestHeadTimeout, "proxy.config.telltale.http.request_head_timeout", kSeconds, 1, 3600, 30, kLive, "How long a client may take to send a whole request head.") \
  INTEGER(kHttpConnectAttemptsTimeout, "proxy.config.http.connect_attempts_timeout", kSeconds, 1, 3600, 30, kLive, "How long a connection attempt to an origin may take.") \
  INTEGER(kHttpTransactionNoActivityTimeoutOut, "proxy.config.http.transaction_no_activity_timeout_out", kSeconds, 1, 86400, 30, kLive, "How long an origin may neither send nor take a byte while a request is under way.") \
  INTEGER(kHttpKeepAliveNoActivityTimeoutOut, "proxy.config.http.keep_alive_no_activity_timeout_out", kSeconds, 1, 86400, 120, kLive, "How long an idle origin connection is kept for the next request.") \
  INTEGER(kHttpRequestHeaderMaxSize, "proxy.config.http.request_header_max_size", kBytes, 1024, 1048576, 32768, kLive, "The largest request head that is accepted.") \
  INTEGER(kHttpResponseHeaderMaxSize, "proxy.config.http.response_header_max_size", kBytes, 1024, 1048576, 32768, kLive, "The largest response head that is accepted from an origin.") \
  INTEGER(kHttpHeaderFieldCountMax, "proxy.config.telltale.http.header_field_count_max", kFields, 1, 1024, 128, kLive, "The most fields that a request head or a response head may have.") \
  INTEGER(kHttpInsertRequestViaStr, "proxy.config.http.insert_request_via_str", kSwitch, 0, 1, 1, kLive, "1 adds this proxy to the Via field of requests to an origin.") \
  INTEGER(kHttpInsertResponseViaStr, "proxy.config.http.insert_response_via_str", kSwitch, 0, 1, 1, kLive, "1 adds this proxy to the Via field of responses to a client.") \
  INTEGER(kHttp2MaxConcurrentStreamsIn, "proxy.config.http2.max_concurrent_streams_in", kStreams, 1, 10000, 100, kLive, "The most streams that a client may have open on one HTTP/2 connection; reset ones count until their work has ended.") \
  INTEGER(kHttp2InitialWindowSizeIn, "proxy.config.http2.initial_window_size_in", kBytes, 1024, 16777216, 65535, kLive, "How much content of one request a client may send over HTTP/2 before the origin has taken it.") \
  INTEGER(kHttp2ConnectionWindowSizeIn, "proxy.config.telltale.http2.connection_window_size_in", kBytes, 65535, 268435456, 1048576, kLive, "The same for all requests of one HTTP/2 connection together.") \
  INTEGER(kHttp2MaxHeaderListSize, "proxy.config.http2.max_header_list_size", kBytes, 1024, 1048576, 32768, kLive, "The largest field section of a request that is accepted over HTTP/2: names, values, and 32 bytes for each field.") \
  INTEGER(kHttp2MaxSettingsFramesPerMinute, "proxy.config.http2.max_settings_frames_per_minute", kFrames, 1, 1000000, 14, kLive, "The most SETTINGS frames that an HTTP/2 client may send within a minute; one more ends the connection.") \
  INTEGER(kHttp2MaxPingFramesPerMinute, "proxy.config.http2.max_ping_frames_per_minute", kFrames, 1, 1000000, 60, kLive, "The most PING frames that an HTTP/2 client may send within a minute; one more ends the connection.") \
  INTEGER(kHttp2MaxPriorityFramesPerMinute, "proxy.config.http2.max_priority_frames_per_minute", kFrames, 1, 1000000, 120, kLive, "The most PRIORITY frames that an HTTP/2 client may send within a minute; one more ends the connection.") \
  INTEGER(kHttp2MaxRstStreamFramesPerMinute, "proxy.config.http2.max_rst_stream_frames_per_minute", kFrames, 1, 1000000, 200, kLive, "The most RST_STREAM frames that an HTTP/2 client may send, or make us send by its errors, within a minute; one more ends the connection.") \
  INTEGER(kHttp2MaxContinuationFramesPerMinute, "proxy.config.http2.max_continuation_frames_per_minute", kFrames, 1, 1000000, 120, kLive, "The most CONTINUATION frames that an HTTP/2 client may send within a minute; one more ends the connection.") \
  INTEGER(kHttp2MaxEmptyFramesPerMinute, "proxy.config.telltale.http2.max_empty_frames_per_minute", kFrames, 1, 100000000, 6000, kLive, "The most frames that move nothing (DATA without content, WINDOW_UPDATE of under 256 bytes) that an HTTP/2 client may send within a minute; one more ends the connection.") \
  INTEGER(kNetConnectionsMax, "proxy.config.telltale.net.connections_max", kConnections, 1, 1000000, 10000, kLive, "The most client connections that one worker holds at a time.") \
  INTEGER(kOriginConnectionsMax, "proxy.config.telltale.origin.connections_max", kConnections, 0, 100000, 256, kLive, "The most idle origin connections that one worker keeps; 0 keeps none.") \
  INTEGER(kHttpCacheHttp, "proxy.config.http.cache.http", kSwitch, 0, 1, 1, kLive, "1 answers from the cache and stores in it; 0 leaves the cache out.") \
  INTEGER(kCacheRamCacheSize, "proxy.config.cache.ram_cache.size", kBytes, 0, 1099511627776, 268435456, kLive, "How much memory stored responses may take; 0 stores nothing.") \
  INTEGER(kCacheObjectSizeMax, "proxy.config.telltale.cache.object_size_max", kBytes, 0, 1073741824, 8388608, kLive, "The largest content of a response that is stored.") \
  INTEGER(kCacheVariantsMax, "proxy.config.telltale.cache.variants_max", kNumber, 1, 256, 16, kLive, "How many responses are stored for one URL that differ in the fields of Vary; a newer one takes the place of the oldest.") \
  TEXT(kHttpCacheHeuristicLmFactor, "proxy.config.http.cache.heuristic_lm_factor", kFraction, "0.10", kLive, "Where an origin does not say how long a response is fresh: which part of the time since Last-Modified is taken for it; 0 takes none.") \
  INTEGER(kHttpCacheHeuristicMinLifetime, "proxy.config.http.cache.heuristic_min_lifetime", kSeconds, 0, 31536000, 0, kLive, "The shortest lifetime that is taken from Last-Modified.") \
  INTEGER(kHttpCacheHeuristicMaxLifetime, "proxy.config.http.cache.heuristic_max_lifetime", kSeconds, 0, 31536000, 86400, kLive, "The longest lifetime that is taken from Last-Modified.") \
  INTEGER(kCacheCollapseTimeout, "proxy.config.telltale.cache.collapse_timeout", kSeconds, 0, 3600, 5, kLive, "How long a request waits for another request's answer that may be for both, before it goes to the origin itself; 0 lets none wait.") \
  INTEGER(kCacheCollapseWaitersMax, "proxy.config.telltale.cache.collapse_waiters_max", kNumber, 1, 1000000, 1024, kLive, "How many requests may wait for the answer to one; more go to the origin themselves.") \
  INTEGER(kCacheInsertCacheStatus, "proxy.config.telltale.cache.insert_cache_status", kSwitch, 0, 1, 0, kLive, "1 adds a Cache-Status field (RFC 9211) to answers.") \
  INTEGER(kUrlRemapPristineHostHdr, "proxy.config.url_remap.pristine_host_hdr", kSwitch, 0, 1, 0, kLive, "1 sends the client's Host field to the origin; 0 sends the origin's own name.") \
  TEXT(kPluginPluginDir, "proxy.config.plugin.plugin_dir", kFolder, "", kRestart, "The folder that relative names in plugin.config are below; by default the folder plugins beside that of the program.") \
  INTEGER(kDiagsDebugEnabled, "proxy.config.diags.debug.enabled", kNumber, 0, 3, 0, kLive, "Debug lines: 0 off; 1 on where the tag matches; 2 also only for the clients of client_ip; 3 as 1, without string tags.") \
  TEXT(kDiagsDebugTags, "proxy.config.diags.debug.tags", kTagPattern, "http|dns", kLive, "Which tags are on; the pattern matches at the start of a tag, so http is also http_hdrs, and http$ is http alone.") \
  TEXT(kDiagsDebugClientIp, "proxy.config.diags.debug.client_ip", kAddressSet, "", kLive, "The clients that mode 2 of proxy.config.diags.debug.enabled is for.") \
  TEXT(kDebugRules, "proxy.config.telltale.debug.rules", kDebugRules, "", kLive, "Which sites are on, by more than their tag: the tags are the first rule, and the last rule that matches a site decides.") \
  INTEGER(kDebugLeaseDuration, "proxy.config.telltale.debug.lease_duration", kSeconds, 0, 2592000, 600, kLive, "How long 'ttctl debug enable' lasts where it does not say; 0 is until it is ended.") \
  INTEGER(kDebugSample, "proxy.config.telltale.debug.sample", kNumber, 1, 1000000, 1, kLive, "Of how many transactions one has the debug lines that the records ask for, all of them; leases say for themselves.") \
  INTEGER(kDiagsThrottlingInterval, "proxy.config.diags.debug.throttling_interval_msec", kMilliseconds, 0, 86400000, 10000, kLive, "A note, warning or error is written once in so long and counted besides; 0 writes each.") \
  INTEGER(kDiagThrottlingBurst, "proxy.config.telltale.diag.throttling_burst", kNumber, 1, 100000, 50, kLive, "How many different notes, warnings or errors of one place in the code are written in that time; more are counted.") \
  INTEGER(kDiagsShowLocation, "proxy.config.diags.show_location", kNumber, 0, 2, 1, kLive, "File and line in the output: 0 never; 1 with debug lines; 2 with every line.") \
  TEXT(kDiagsOutputDebug, "proxy.config.diags.output.debug", kOutputLetters, "L", kLive, "Where debug lines go.") \
  TEXT(kDiagsOutputStatus, "proxy.config.diags.output.status", kOutputLetters, "L", kLive, "Where lines of level status go.") \
  TEXT(kDiagsOutputNote, "proxy.config.diags.output.note", kOutputLetters, "L", kLive, "Where lines of level note go.") \
  TEXT(kDiagsOutputWarning, "proxy.config.diags.output.warning", kOutputLetters, "EL", kLive, "Where lines of level warning go.") \
  TEXT(kDiagsOutputError, "proxy.config.diags.output.error", kOutputLetters, "EL", kLive, "Where lines of level error go.") \
  TEXT(kDiagsOutputFatal, "proxy.config.diags.output.fatal", kOutputLetters, "EL", kLive, "Where lines of level fatal go.") \
  TEXT(kDiagsOutputAlert, "proxy.config.diags.output.alert", kOutputLetters, "EL", kLive, "Where lines of level alert go.") \
  TEXT(kDiagsOutputEmergency, "proxy.config.diags.output.emergency", kOutputLetters, "EL", kLive, "Where lines of level emergency go.") \
  TEXT(kDiagsLogfileFilename, "proxy.config.diags.logfile.filename", kFileName, "diags.log", kRestart, "The diagnostics file, in the log folder.") \
  INTEGER(kDiagsLogfileRollingEnabled, "proxy.config.diags.logfile.rolling_enabled", kNumber, 0, 3, 2, kLive, "When diags.log is rolled, that is moved to a name with its time and a number, and begun anew: 0 never; 1 by time; 2 by size; 3 by both.") \
  INTEGER(kDiagsLogfileRollingIntervalSec, "proxy.config.diags.logfile.rolling_interval_sec", kSeconds, 1, 31536000, 3600, kLive, "By time, diags.log is rolled when a multiple of this passes, counted in UTC: 3600 is on the hour, 86400 at midnight.") \
  INTEGER(kDiagsLogfileRollingSizeMb, "proxy.config.diags.logfile.rolling_size_mb", kMegabytes, 1, 1000000, 100, kLive, "By size, diags.log is rolled before it would grow beyond this.") \
  INTEGER(kDiagsLogfileRollingMinCount, "proxy.config.diags.logfile.rolling_min_count", kNumber, 0, 1000000, 0, kLive, "How many rolled files, the newest, are kept however old they are; the limit of space takes them all the same.") \
  INTEGER(kDiagLogfileMaxAgeSec, "proxy.config.telltale.diag.logfile.max_age_sec", kSeconds, 0, 3153600000, 0, kLive, "Rolled files of diags.log that were last written to longer ago than this are deleted; 0 keeps them.") \
  INTEGER(kDiagLogfileMaxSpaceMb, "proxy.config.telltale.diag.logfile.max_space_mb", kMegabytes, 0, 1000000000, 1000, kLive, "How much space diags.log and its rolled files may take, and diags.blog and diags.json with their own likewise; the oldest rolled ones are deleted, never the live one; 0 is no limit.") \
  INTEGER(kDiagLogfileCompress, "proxy.config.telltale.diag.logfile.compress", kSwitch, 0, 1, 1, kLive, "1 compresses rolled files with zstd while nothing else wants the processor; 0 leaves them as they are.") \
  TEXT(kDiagJsonFilename, "proxy.config.telltale.diag.json.filename", kFileOrStream, "diags.json", kLive, "Where the letter N leads: a file in the log folder with one JSON object a line, rolled as diags.log is; or stdout or stderr.") \
  TEXT(kDiagSyslogSocket, "proxy.config.telltale.diag.syslog.socket", kSocketPath, "/dev/log", kLive, "The datagram socket that the letter S leads to.") \
  TEXT(kSyslogFacility, "proxy.config.syslog_facility", kFacility, "LOG_DAEMON", kLive, "What lines are to syslog: the facility.") \
  TEXT(kDiagJournaldSocket, "proxy.config.telltale.diag.journald.socket", kSocketPath, "/run/systemd/journal/socket", kLive, "The socket of systemd-journald that the letter J leads to.") \
  TEXT(kDiagIdentifier, "proxy.config.telltale.diag.identifier", kIdentifier, "telltale", kLive, "Whose lines they are to syslog and journald.") \
  INTEGER(kDiagRingSize, "proxy.config.telltale.diag.ring_size", kBytesPowerOfTwo, 65536, 16777216, 262144, kRestart, "How many bytes of lines each thread can have waiting for the writer; more are dropped and counted.") \
  INTEGER(kRecorderEnabled, "proxy.config.telltale.recorder.enabled", kSwitch, 0, 1, 1, kRestart, "1 keeps each thread's last lines where 'ttctl recorder dump' finds them after any death of the process; 0 keeps them in its own memory only.") \
  TEXT(kRecorderPath, "proxy.config.telltale.recorder.path", kFolder, "", kRestart, "The folder of the flight recorder, which should be on a tmpfs because a disk can make a thread wait; by default the folder recorder below --runtime where that is on one, else one below /dev/shm to which a link of that name leads.") \
  INTEGER(kRecorderKeep, "proxy.config.telltale.recorder.keep", kNumber, 0, 100, 3, kRestart, "How many recorders of former processes are kept there; the oldest go when the daemon starts.") \
  TEXT(kRecorderTags, "proxy.config.telltale.recorder.tags", kTagsOrNone, "", kLive, "Tags whose debug lines go into the flight recorder alone, without output; those that are on for output are in it anyway.") \
  TEXT(kRedactFields, "proxy.config.telltale.redact.fields", kFieldNames, "", kLive, "Names of further fields that show [redacted] for their value; those that docs/redaction.md lists always do.") \
  TEXT(kRedactFragments, "proxy.config.telltale.redact.fragments", kNameFragments, "", kLive, "Fragments beside token, secret, passw and others: a field with one in its name shows [redacted].") \
  TEXT(kRedactAllowedFields, "proxy.config.telltale.redact.allowed_fields", kFieldNames, "", kLive, "Names of fields that are shown although a fragment is in their name; those that are listed by their whole name are not.") \
  TEXT(kRedactQueryKeys, "proxy.config.telltale.redact.query_keys", kQueryKeys, "", kLive, "Keys whose values are masked in URLs, beside access_token, password and others.") \
  INTEGER(kRedactEveryQueryValue, "proxy.config.telltale.redact.every_query_value", kSwitch, 0, 1, 0, kLive, "1 masks the value of every key in URLs.") \
  TEXT(kRedactPaths, "proxy.config.telltale.redact.paths", kPathGlobs, "*/login,*/login/*,*/signin,*/signin/*,*/token,*/token/*,*/oauth/*,*/oauth2/*", kLive, "Sensitive paths: of requests there and their answers, query, bodies and all fields but the basic ones are masked.") \
  INTEGER(kRedactBodyLimit, "proxy.config.telltale.redact.body_limit", kBytes, 0, 60000, 1000, kLive, "How much of a piece of a body is shown where the daemon was started with --show-secrets, and else nothing; a line holds 16384 bytes of it.") \
  TEXT(kRedactValuesFile, "proxy.config.telltale.redact.values_file", kSecretsFile, "", kLive, "A file of secret values, one a line and of at least 5 bytes, that are masked wherever they turn up; relative to the configuration folder, read again by a reload.") \
  INTEGER(kStopDrainTimeout, "proxy.config.telltale.stop.drain_timeout", kSeconds, 0, 3600, 5, kLive, "How long a stop waits for requests under way.")
// clang-format on
