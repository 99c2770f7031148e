#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/interruption.h"
#include "cli/view_commands.h"
#include "report/page.h"
#include "report/run_view.h"
#include "serve/viewer.h"

namespace kw {

Result<int> run_report(const ReportOptions& options, Output& output) {
  KW_TRY(Archive archive, Archive::open_to_read(Archive::default_path()));
  KW_TRY(const RunView view, run_view(archive, options.run, Sources::with));
  const std::string file = options.out.empty() ? fmt::format("{}-run{}.html", view.run.problem_name, view.run.id) : options.out;
  KW_CHECK(check_out(file));
  const std::string page = report_page(view);
  KW_CHECK(write_file_atomically(file, page));
  output.result(fmt::format("{}\n", file), {{"run", view.run.id}, {"file", file}, {"bytes", page.size()}});
  return kPassed;
}

Result<int> run_view(const ViewOptions& options, Output& output) {
  const Interruption interruption;
  ViewerOptions viewer;
  viewer.archive = Archive::default_path();
  viewer.host = {options.host == "localhost" ? "127.0.0.1" : options.host, options.port, options.names};
  KW_CHECK(serve_viewer(
      viewer,
      [&](int port) {
        const bool is_six = options.host.find(':') != std::string::npos;
        const std::string host = is_six ? "[" + viewer.host.address + "]" : viewer.host.address;
        const std::string address = fmt::format("http://{}:{}/", host, port);
        std::string text = fmt::format("{}  (Ctrl-C ends it)\n", address);
        if (!is_loopback(viewer.host.address)) text += "others who can reach this address can read all runs\n";
        output.result(text, {{"address", address}, {"port", port}});
      },
      interruption.wanted()));
  return kPassed;
}

}  // namespace kw
