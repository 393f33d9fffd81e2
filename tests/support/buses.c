/* Chips on buses of I2C and SPI behind plain files, for tests: preloaded, this answers the ioctl calls that drivers of Linux
 * would. A file `i2c-N` is an EEPROM of 256 bytes at address 0x50, its bytes are those of the file; the chip at 0x57 is in use by a kernel driver.
 * The adapter of `i2c-3` supports only SMBus, without block reads. A file `spidevN.M` is a
 * line from output to input; the file has what it was set to, as text. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <linux/spi/spidev.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHIP 0x50
#define TAKEN 0x57

static int i2c(int file, struct i2c_rdwr_ioctl_data *transfer) {
	static off_t place;
	for (unsigned at = 0; at < transfer->nmsgs; at++) {
		struct i2c_msg *part = &transfer->msgs[at];
		if (part->addr != CHIP) {
			errno = ENXIO;
			return -1;
		}
		if (part->flags & I2C_M_RD) {
			place += pread(file, part->buf, part->len, place);
		} else {
			place = part->buf[0];
			place += pwrite(file, part->buf + 1, part->len - 1, place);
		}
	}
	return transfer->nmsgs;
}

static int smbus(int file, struct i2c_smbus_ioctl_data *transfer) {
	static off_t place;
	int is_read = transfer->read_write == I2C_SMBUS_READ;
	unsigned char *bytes = (unsigned char *)transfer->data;
	switch (transfer->size) {
	case I2C_SMBUS_BYTE:
		if (!is_read) place = transfer->command;
		else if (pread(file, bytes, 1, place++) != 1) return -1;
		return 0;
	case I2C_SMBUS_BYTE_DATA:
	case I2C_SMBUS_WORD_DATA: {
		size_t count = transfer->size == I2C_SMBUS_BYTE_DATA ? 1 : 2;
		ssize_t done = is_read ? pread(file, bytes, count, transfer->command) : pwrite(file, bytes, count, transfer->command);
		return done == (ssize_t)count ? 0 : -1;
	}
	case I2C_SMBUS_I2C_BLOCK_DATA:
		if (!is_read) return pwrite(file, bytes + 1, bytes[0], transfer->command) == bytes[0] ? 0 : -1;
	}
	errno = EOPNOTSUPP;
	return -1;
}

static int bus(int file, unsigned long request, void *argument, int knows_smbus_alone) {
	if (request == I2C_SLAVE && (unsigned long)argument == TAKEN) {
		errno = EBUSY;
		return -1;
	}
	if (request == I2C_SMBUS) return smbus(file, argument);
	if (request != I2C_RDWR) return 0;
	if (!knows_smbus_alone) return i2c(file, argument);
	errno = EOPNOTSUPP;
	return -1;
}

static int spi(int file, unsigned long request, void *argument) {
	static unsigned mode, hertz;
	char text[64];
	if (_IOC_NR(request) == _IOC_NR(SPI_IOC_MESSAGE(1)) && _IOC_DIR(request) == _IOC_WRITE) {
		struct spi_ioc_transfer *parts = argument;
		int count = _IOC_SIZE(request) / sizeof *parts, sum = 0;
		for (int at = 0; at < count; at++) {
			memcpy((void *)(unsigned long)parts[at].rx_buf, (void *)(unsigned long)parts[at].tx_buf, parts[at].len);
			sum += parts[at].len;
		}
		int length = snprintf(text, sizeof text, "mode %u, %u Hz\n", mode, hertz);
		return pwrite(file, text, length, 0) == length ? sum : -1;
	}
	if (request == SPI_IOC_WR_MODE) mode = *(unsigned char *)argument;
	if (request == SPI_IOC_WR_MODE32) mode = *(unsigned *)argument;
	if (request == SPI_IOC_WR_MAX_SPEED_HZ) hertz = *(unsigned *)argument;
	return 0;
}

int ioctl(int file, unsigned long request, ...) {
	char link[32], path[256];
	va_list arguments;
	va_start(arguments, request);
	void *argument = va_arg(arguments, void *);
	va_end(arguments);
	snprintf(link, sizeof link, "/proc/self/fd/%d", file);
	ssize_t length = readlink(link, path, sizeof path - 1);
	path[length > 0 ? length : 0] = 0;
	if (strstr(path, "/dev/i2c-")) return bus(file, request, argument, strstr(path, "/dev/i2c-3") != 0);
	if (strstr(path, "/dev/spidev")) return spi(file, request, argument);
	int (*next)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
	return next(file, request, argument);
}
