/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of the soak in C++: others inside a catch block, or a destructor that runs because of
 * an exception. */
#include <exception>

extern "C" {
struct actor;
void soak_steps(struct actor *a, unsigned n);
unsigned soak_draw(struct actor *a, unsigned n);
void soak_is_wrong(const char *what);
void soak_throws(struct actor *a);
}

namespace
{

class Unwound
{
	struct actor *a;

      public:
	explicit Unwound(struct actor *actor) : a(actor)
	{
	}
	Unwound(const Unwound &) = delete;
	Unwound &operator=(const Unwound &) = delete;
	~Unwound()
	{
		const int n = std::uncaught_exceptions();

		soak_steps(a, soak_draw(a, 2));
		if (n != std::uncaught_exceptions())
			soak_is_wrong("the number of exceptions that are not caught");
	}
};

void catches(struct actor *a, unsigned mine)
{
	try {
		Unwound unwound(a);
		if (mine % 2)
			throw mine;
		throw static_cast<long>(mine);
	} catch (unsigned) {
		soak_steps(a, soak_draw(a, 3));
		throw;
	} catch (long) {
		soak_steps(a, soak_draw(a, 3));
		throw mine;
	}
}

} // namespace

void soak_throws(struct actor *a)
{
	const unsigned mine = soak_draw(a, 1000);
	const int n = std::uncaught_exceptions();

	try {
		catches(a, mine);
		soak_is_wrong("an exception that nobody has caught is gone");
	} catch (unsigned got) {
		soak_steps(a, soak_draw(a, 2));
		if (got != mine)
			soak_is_wrong("the exception of another");
	}
	if (n != std::uncaught_exceptions())
		soak_is_wrong("the number of exceptions that are not caught");
}
