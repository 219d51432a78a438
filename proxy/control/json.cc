// SPDX-License-Identifier: Apache-2.0
// Boost.JSON, compiled here once instead of linking the library.
#include <boost/json/src.hpp>
