// SPDX-License-Identifier: Apache-2.0
//
// tt-origin: the origin server of the demo, of the end-to-end tests and of load runs. Its pages explain
// themselves at "/". It trusts its users: it is for the machine it runs on, not for a network.
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "connection.h"
#include "pages.h"

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// ADDRESS:PORT, or [ADDRESS]:PORT for IPv6. Errors: throws.
tcp::endpoint endpoint_of(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == text.npos) throw std::runtime_error("ADDRESS:PORT was expected");
  std::string_view address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  const std::string port(text.substr(colon + 1));
  unsigned number = 0;
  if (!CLI::detail::lexical_cast(port, number) || number > 65535) {
    throw std::runtime_error("the port must be 0 to 65535");
  }
  return {asio::ip::make_address(address), static_cast<unsigned short>(number)};
}

asio::awaitable<void> accept_all(tcp::acceptor& acceptor, asio::io_context& context, tt_origin::Pages& pages) {
  asio::steady_timer pause(co_await asio::this_coro::executor);
  for (;;) {
    auto [error, socket] = co_await acceptor.async_accept(asio::make_strand(context),
                                                          asio::as_tuple(asio::use_awaitable));
    if (!acceptor.is_open()) co_return;
    if (error) {  // out of descriptors, most likely: give connections time to end
      pause.expires_after(std::chrono::milliseconds(20));
      co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
      continue;
    }
    const auto executor = socket.get_executor();
    asio::co_spawn(executor, tt_origin::serve(std::move(socket), pages), asio::detached);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string listen = "127.0.0.1:9000";
  std::string files;
  unsigned threads = 1;
  CLI::App app("An origin server for trying and testing a proxy. / explains its paths.", "tt-origin");
  app.add_option("--listen", listen, "ADDRESS:PORT; port 0 takes a free one")->capture_default_str();
  app.add_option("--threads", threads, "threads that serve")->check(CLI::Range(1, 256))->capture_default_str();
  app.add_option("--files", files, "folder to serve below /files/");
  app.footer("Exit status: 0 stopped; 1 cannot serve; 2 wrong command line.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  try {
    tt_origin::Pages pages(files);
    asio::io_context context(static_cast<int>(threads));
    tcp::acceptor acceptor(context, endpoint_of(listen));
    asio::co_spawn(context, accept_all(acceptor, context, pages), asio::detached);
    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](const boost::system::error_code&, int) { context.stop(); });
    std::fputs(fmt::format("tt-origin: ready on {}:{}\n", acceptor.local_endpoint().address().to_string(),
                           acceptor.local_endpoint().port())
                   .c_str(),
               stderr);
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back([&] { context.run(); });
    context.run();
  } catch (const boost::system::system_error& error) {
    std::fputs(fmt::format("tt-origin: cannot serve on {}: {}\n", listen, error.code().message()).c_str(), stderr);
    return 1;
  } catch (const std::exception& error) {
    std::fputs(fmt::format("tt-origin: cannot serve on {}: {}\n", listen, error.what()).c_str(), stderr);
    return 1;
  }
  return 0;
}
