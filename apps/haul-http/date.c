/* SPDX-License-Identifier: BSD-3-Clause */
#include "date.h"

#define DAY INT64_C(86400)

static const char *const day_names[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"}, /* 1970 */
	*const long_names[] = {"Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday",
		"Wednesday"},
			 *const month_names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul",
				 "Aug", "Sep", "Oct", "Nov", "Dec"};

struct date {
	int64_t year;
	unsigned month, day, hour, minute, second; /* the month from 0, the day from 1 */
};

/* Days since 1970 of a day in the Gregorian calendar. Years begin in March here, so that a leap day
 * is the last one, and 400 of them have 146,097 days. year >= 0. */
static int64_t days_of(int64_t year, unsigned month, unsigned day)
{
	const unsigned m = (month + 10) % 12;
	const int64_t y = year - (month < 2) + 400;

	return y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468 - 146097;
}

static struct date date_of(int64_t seconds)
{
	const int64_t days = seconds / DAY - (seconds % DAY < 0), z = days + 719468;
	const unsigned rest = (unsigned)(seconds - days * DAY);
	const unsigned d400 = (unsigned)(z % 146097);
	const unsigned y = (d400 - d400 / 1460 + d400 / 36524 - d400 / 146096) / 365;
	const unsigned d = d400 - (365 * y + y / 4 - y / 100), m = (5 * d + 2) / 153;

	return (struct date){.year = y + z / 146097 * 400 + (m >= 10),
		.month = (m + 2) % 12,
		.day = d - (153 * m + 2) / 5 + 1,
		.hour = rest / 3600,
		.minute = rest / 60 % 60,
		.second = rest % 60};
}

static void put2(char *text, unsigned n)
{
	text[0] = (char)('0' + n / 10);
	text[1] = (char)('0' + n % 10);
}

void http_date_print(char text[HTTP_DATE_LENGTH], int64_t seconds)
{
	const int64_t days = seconds / DAY - (seconds % DAY < 0);
	const struct date d = date_of(seconds);

	memcpy(text, "Xxx, 00 Xxx 0000 00:00:00 GMT", HTTP_DATE_LENGTH);
	memcpy(text, day_names[(days % 7 + 7) % 7], 3);
	put2(text + 5, d.day);
	memcpy(text + 8, month_names[d.month], 3);
	put2(text + 12, (unsigned)(d.year / 100));
	put2(text + 14, (unsigned)(d.year % 100));
	put2(text + 17, d.hour);
	put2(text + 20, d.minute);
	put2(text + 23, d.second);
}

/* All below take something from the beginning of the text, or return false. */

static bool take(struct http_str *s, const char *text)
{
	size_t n = strlen(text);

	if (s->n < n || memcmp(s->at, text, n) != 0)
		return false;
	*s = http_skip(*s, n);
	return true;
}

static bool take_name(struct http_str *s, const char *const *names, unsigned n, unsigned *which)
{
	for (*which = 0; *which < n; ++*which)
		if (take(s, names[*which]))
			return true;
	return false;
}

static bool take_digits(struct http_str *s, size_t n, unsigned *number)
{
	uint64_t value;

	if (s->n < n || !http_number((struct http_str){s->at, n}, &value))
		return false;
	*number = (unsigned)value;
	*s = http_skip(*s, n);
	return true;
}

static bool take_year(struct http_str *s, struct date *d)
{
	unsigned year;

	if (!take_digits(s, 4, &year))
		return false;
	d->year = year;
	return true;
}

static bool take_time(struct http_str *s, struct date *d)
{
	return take_digits(s, 2, &d->hour) && take(s, ":") && take_digits(s, 2, &d->minute) &&
		take(s, ":") && take_digits(s, 2, &d->second);
}

static bool take_month(struct http_str *s, struct date *d)
{
	return take_name(s, month_names, 12, &d->month);
}

/* Sun, 06 Nov 1994 08:49:37 GMT */
static bool take_fixed(struct http_str s, struct date *d)
{
	unsigned day;

	return take_name(&s, day_names, 7, &day) && take(&s, ", ") && take_digits(&s, 2, &d->day) &&
		take(&s, " ") && take_month(&s, d) && take(&s, " ") && take_year(&s, d) &&
		take(&s, " ") && take_time(&s, d) && take(&s, " GMT") && s.n == 0;
}

/* Sunday, 06-Nov-94 08:49:37 GMT: more than 50 years from now is in the century before. */
static bool take_rfc850(struct http_str s, int64_t now, struct date *d)
{
	const int64_t this_year = date_of(now).year;
	unsigned day, year;

	if (!(take_name(&s, long_names, 7, &day) && take(&s, ", ") && take_digits(&s, 2, &d->day) &&
		    take(&s, "-") && take_month(&s, d) && take(&s, "-") &&
		    take_digits(&s, 2, &year) && take(&s, " ") && take_time(&s, d) &&
		    take(&s, " GMT") && s.n == 0))
		return false;
	for (d->year = this_year / 100 * 100 + year + 100; d->year > this_year + 50;)
		d->year -= 100;
	return true;
}

/* Sun Nov  6 08:49:37 1994 */
static bool take_asctime(struct http_str s, struct date *d)
{
	unsigned day;

	return take_name(&s, day_names, 7, &day) && take(&s, " ") && take_month(&s, d) &&
		take(&s, " ") &&
		(take(&s, " ") ? take_digits(&s, 1, &d->day) : take_digits(&s, 2, &d->day)) &&
		take(&s, " ") && take_time(&s, d) && take(&s, " ") && take_year(&s, d) && s.n == 0;
}

static bool is_valid(const struct date *d)
{
	static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = d->year % 4 == 0 && (d->year % 100 != 0 || d->year % 400 == 0);

	/* 60 is a leap second. */
	return d->day >= 1 && d->day <= days[d->month] + (unsigned)(d->month == 1 && leap) &&
		d->hour < 24 && d->minute < 60 && d->second <= 60;
}

bool http_date_parse(struct http_str text, int64_t now, int64_t *seconds)
{
	struct date d;

	if (!take_fixed(text, &d) && !take_rfc850(text, now, &d) && !take_asctime(text, &d))
		return false;
	if (!is_valid(&d))
		return false;
	*seconds = days_of(d.year, d.month, d.day) * DAY + d.hour * 3600 + d.minute * 60 + d.second;
	return true;
}
