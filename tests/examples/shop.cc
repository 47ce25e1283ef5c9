// SPDX-License-Identifier: Apache-2.0
// `./app` of docs/probes.md: functions with namespaces, parameters and results.
#include <unistd.h>

namespace shop {

struct Item {
	int id;
	const char *name;
};

struct Cart {
	long total = 0;

	__attribute__((noinline)) void add(const Item &item)
	{
		total += item.id;
	}

	__attribute__((noinline)) void add(int price, const char *what)
	{
		total += price + (what != nullptr);
	}

	__attribute__((noinline)) long pay(long rebate)
	{
		return total - rebate;
	}
};

}

__attribute__((noinline)) int work(shop::Cart &cart)
{
	cart.add(shop::Item{3, "tea"});
	cart.add(40, "pot");
	return cart.pay(2) == 41;
}

int main()
{
	shop::Cart cart;

	for (int i = 0; i < 20 && !work(cart); i++)
		usleep(1000);
}
