// Naming a device.
#include "target/cuda/device_list.hpp"

#include <gtest/gtest.h>

#include "fake_driver.hpp"

namespace gpusonde::cuda {
namespace {

class DeviceList : public ::testing::Test {
 protected:
  DeviceList() { m_fake.device_count = 2; }
  Result<int> find(const std::string& name) { return find_device(*list_devices(m_fake.table), name); }
  test::FakeDriver m_fake;
};

TEST_F(DeviceList, ByIndex) {
  EXPECT_EQ(find("0"), 0);
  EXPECT_EQ(find("1"), 1);
}

TEST_F(DeviceList, ByUuidAndItsBeginning) {
  EXPECT_EQ(find("GPU-10111213-1415-1617-1819-1a1b1c1d1e1f"), 1);
  EXPECT_EQ(find("GPU-1"), 1);
  EXPECT_EQ(find("gpu-00"), 0);
}

TEST_F(DeviceList, ByPciIdWithAndWithoutDomain) {
  EXPECT_EQ(find("0000:9a:00.0"), 1);
  EXPECT_EQ(find("9A:00.0"), 1);
  EXPECT_EQ(find("00000000:1B:00.0"), 0);
}

TEST_F(DeviceList, AnotherDomainIsAnotherDevice) { EXPECT_FALSE(find("0001:9a:00.0").has_value()); }

TEST_F(DeviceList, WhatIsNotThereNamesWhatIs) {
  const auto found = find("2");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().kind, ErrorKind::no_device);
  EXPECT_EQ(found.error().message,
            "there is no device 2; choose from: 0 Fake H200 (GPU-00010203-0405-0607-0809-0a0b0c0d0e0f, 0000:1b:00.0); "
            "1 Fake H200 (GPU-10111213-1415-1617-1819-1a1b1c1d1e1f, 0000:9a:00.0)");
}

TEST_F(DeviceList, NonsenseIsNoDevice) {
  for (const char* name : {"", "x", "-1", "99999999999999999999", "GPU-", ":", "GPU-zz"})
    EXPECT_FALSE(find(name).has_value()) << name;
}

TEST_F(DeviceList, NoneAtAll) {
  m_fake.device_count = 0;
  EXPECT_EQ(list_devices(m_fake.table).error().kind, ErrorKind::no_device);
}

}  // namespace
}  // namespace gpusonde::cuda
