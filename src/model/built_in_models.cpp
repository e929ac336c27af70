// Models by name or by file. The built-in ones are the files of models/, embedded at build time.
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "model/device_model.hpp"
#include "model/nearest_name.hpp"

namespace gpusonde {

namespace embedded {
extern const std::string_view model_h200;
extern const std::string_view model_l40s;
extern const std::string_view model_rtx4090;
extern const std::string_view model_rtx5080;
}  // namespace embedded

namespace {

struct BuiltIn {
  std::string_view name;
  const std::string_view& text;
};

const std::array<BuiltIn, 4> k_built_in{{
    {"rtx4090", embedded::model_rtx4090},
    {"rtx5080", embedded::model_rtx5080},
    {"l40s", embedded::model_l40s},
    {"h200", embedded::model_h200},
}};

}  // namespace

std::vector<std::string> built_in_models() {
  std::vector<std::string> names;
  for (const auto& each : k_built_in) names.emplace_back(each.name);
  return names;
}

std::string_view built_in_model_text(std::string_view name) {
  for (const auto& each : k_built_in)
    if (each.name == name) return each.text;
  return {};
}

Result<DeviceModel> load_model(const std::filesystem::path& path) {
  constexpr std::uintmax_t most_bytes = 1U << 20;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return fail(ErrorKind::bad_input, fmt::format("{} is a folder; name a model file in it", path.string()));
  if (std::filesystem::file_size(path, ignored) > most_bytes && !ignored)
    return fail(ErrorKind::bad_input, fmt::format("{} is over 1 MiB; a model file has a few KiB", path.string()));
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return fail(ErrorKind::bad_input,
                fmt::format("cannot read the model {}: {}; check the path", path.string(), std::strerror(errno)));
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  return parse_model(text, path.string());
}

Result<DeviceModel> find_model(const std::string& name_or_path) {
  const bool is_path = name_or_path.ends_with(".toml") || name_or_path.find('/') != std::string::npos;
  if (is_path) return load_model(name_or_path);
  const auto text = built_in_model_text(name_or_path);
  if (!text.empty()) {
    auto model = parse_model(text, fmt::format("{}.toml", name_or_path));
    if (model) model->origin = name_or_path;
    return model;
  }
  return fail(ErrorKind::bad_input,
              fmt::format("no model is named '{}'; the built-in ones are {}, or give a path that ends in .toml",
                          name_or_path, fmt::join(built_in_models(), ", ")));
}

}  // namespace gpusonde
