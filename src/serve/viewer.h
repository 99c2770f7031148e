// The web server of the viewer. Read-only, for its own hosts alone, with bounds on everything that a client may hold on to.
#pragma once

#include <atomic>
#include <functional>

#include "base/files.h"
#include "serve/host_check.h"

namespace kw {

struct ViewerOptions {
  fs::path archive;
  HostRule host;  // port 0: any that is free
};

// Serves until `stop`. `on_ready` hears of the port once it answers.
Status serve_viewer(const ViewerOptions& options, const std::function<void(int port)>& on_ready, const std::atomic<bool>& stop);

}  // namespace kw
