// A library opened at run time: what must be there, and what may be missing.
#include "target/cuda/shared_library.hpp"

#include <gtest/gtest.h>

namespace gpusonde::cuda {
namespace {

TEST(SharedLibrary, WhatIsOptionalIsNotMissed) {
  SharedLibrary library("libc.so.6");
  ASSERT_TRUE(library.opened());
  int (*function)(const char*) = nullptr;
  library.get(function, "puts");
  EXPECT_NE(function, nullptr);
  library.get_optional(function, "no_such_function");
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(library.missing(), "");
  library.get(function, "nor_this_one");
  library.get(function, "puts");
  EXPECT_EQ(library.missing(), "nor_this_one");
}

}  // namespace
}  // namespace gpusonde::cuda
