/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capture: writes the frames of ports to a pcapng file, for Wireshark, tshark and tcpdump. Carriers
 * copy frames into rings of their own and never wait; a thread writes them to the file. A frame for
 * which a ring has no room is counted, and missing in the file.
 *
 *	haul_capture_open(&capture, &opts, errbuf, errlen);
 *	haul_capture_start(capture, io, errbuf, errlen);	or haul_io_opts.capture
 *	...
 *	haul_capture_stop(capture, errbuf, errlen);		or haul_io_stop()
 *	haul_capture_close(capture, timeout, &stats, errbuf, errlen);
 *
 * Received frames are captured before a handler gets them, sent frames when the PMD has taken them,
 * once each. The file has the frames of one carrier in their order; those of several carriers are
 * merged by time, and may be out of order by a few milliseconds if a carrier was interrupted
 * (reordercap sorts). The time stamp is that of the burst call, in nanoseconds.
 *
 * While nothing is captured, packets cost no instruction more. Calls for one capture are made by
 * one thread at a time, which is no carrier.
 */
#ifndef HAUL_DPDK_CAPTURE_H
#define HAUL_DPDK_CAPTURE_H

#include <haul-dpdk/io.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True if the frame is to be captured. Called on carriers, several at once; must not suspend. The
 * frame is complete and in one piece, with the VLAN tags that a NIC has removed or will insert. */
typedef bool haul_capture_match_fn(void *arg, const uint8_t *frame, uint32_t len);

enum haul_capture_directions {
	HAUL_CAPTURE_BOTH,
	HAUL_CAPTURE_RX, /* received frames only */
	HAUL_CAPTURE_TX, /* sent frames only */
};

struct haul_capture_opts {
	struct haul_port *const *ports; /* those of haul_io_opts; must outlive the capture */
	unsigned nb_ports;
	const bool *captures; /* [nb_ports]: the ports to capture; NULL: all */
	unsigned carriers; /* haul_carriers() */
	/*
	 * Opened by haul_file_create() (haul-dpdk/file.h): a file of this user is emptied, and only
	 * its owner may read it; others' are refused. A FIFO: frames are written as soon as it has
	 * a reader, and dropped when it does not keep up. "-": standard output.
	 */
	const char *file;
	enum haul_capture_directions directions;
	uint32_t snaplen; /* bytes of a frame to keep; 0: all */
	haul_capture_match_fn *match; /* NULL: all frames */
	void *match_arg;
	const char *match_text; /* for the file: the filter in words; may be NULL */
	/*
	 * A new file FILE_00001_20261122203000.pcapng, ... begins before the present one would be
	 * larger than rotate_bytes, or when it is older than rotate_ns; 0: never. A name in use is
	 * left alone: ..._20261122203000-1.pcapng. Only the last "files" are kept; 0: all.
	 */
	uint64_t rotate_bytes;
	uint64_t rotate_ns;
	unsigned files;
	uint32_t ring_bytes; /* of a carrier's ring: a power of two from 128 KiB; 0: 8 MiB */
	const char *program; /* for the file: name and version of the program; may be NULL */
};

struct haul_capture_stats {
	uint64_t captured; /* frames in the file */
	uint64_t dropped; /* frames that are missing, for want of room or by a failure to write */
	uint64_t bytes; /* of all files so far. Only in the sum */
	uint64_t files; /* begun so far. Only in the sum */
};

struct haul_capture;

/* Opens the file and starts the thread that writes. Returns 0, and the caller owns *capture until
 * haul_capture_close(); or -EINVAL (options), -ENOMEM, or the error of opening the file, with one
 * line in errbuf. *opts is copied, but for what its strings and ports point to. */
HAUL_API int haul_capture_open(struct haul_capture **capture, const struct haul_capture_opts *opts,
	char *errbuf, size_t errlen);

/*
 * Captures the frames of io from now on, also after haul_io_stop() and haul_io_resume(), until
 * haul_capture_stop(), haul_capture_close() or haul_io_free(). Waits for each carrier. Returns 0;
 * -EINVAL (io has other ports or more carriers), -EBUSY (one of the two is capturing), -ECANCELED
 * (haul_io_stop() has not completed) or -ENOMEM, with one line in errbuf. After -ENOMEM call
 * haul_capture_stop(): some carriers may capture.
 */
HAUL_API int haul_capture_start(
	struct haul_capture *capture, struct haul_io *io, char *errbuf, size_t errlen);

/* Ends that: frames up to now will be in the file. Waits for each carrier. Returns 0, -ECANCELED
 * (haul_io_stop() has not completed) or -ENOMEM, with one line in errbuf. */
HAUL_API int haul_capture_stop(struct haul_capture *capture, char *errbuf, size_t errlen);

/* Copies the counters of a port, or the sum of HAUL_ALL, into *st. Frames in the rings are
 * in neither of them yet. Any thread. */
HAUL_API void haul_capture_get_stats(
	const struct haul_capture *capture, unsigned port, struct haul_capture_stats *st);

/* "" while frames can be written; else one line with the reason, such as a full disk. Nothing is
 * written any more then, and all frames are counted as dropped. Any thread. */
HAUL_API const char *haul_capture_fault(const struct haul_capture *capture);

/*
 * Writes what is in the rings, for at most timeout_ns if the file is a pipe whose reader does not
 * read, then the statistics, and closes the file. *st gets the final counters (NULL: not wanted).
 * Returns 0, or with one line in errbuf -EIO (the file is incomplete because of a fault; capture is
 * freed) or -EBUSY (pollers run: haul_capture_stop() first; capture is not freed).
 */
HAUL_API int haul_capture_close(struct haul_capture *capture, uint64_t timeout_ns,
	struct haul_capture_stats *st, char *errbuf, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
