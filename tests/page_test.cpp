#include "ngf/report/page.hpp"

#include <gmock/gmock.h>

TEST(Page, X) {}
