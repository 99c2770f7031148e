# kw_without_sanitizers(target room...): the rooms are built once more, as the target's own and without sanitizers. For what runs where a
# sanitizer's runtime cannot: under the filters and limits of the sandbox, or in programs that do not have it.
function(kw_without_sanitizers target)
  set(rooms ${ARGN})
  list(TRANSFORM rooms REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/src/\\1/*.cpp")
  file(GLOB sources CONFIGURE_DEPENDS ${rooms})
  target_sources(${target} PRIVATE ${sources})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_options(${target} PRIVATE -fno-sanitize=all)
  target_link_options(${target} PRIVATE -fno-sanitize=all)
  target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json fmt::fmt spdlog::spdlog OpenSSL::Crypto Threads::Threads
                                          ${CMAKE_DL_LIBS})
endfunction()
