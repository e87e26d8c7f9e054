/* Receives DVB-S2 samples in cf32 from a file or standard input.
 * usage: receive SAMPLES SAMPLE_RATE_HZ OUTPUT.ts
 * cc receive.c $(pkg-config --cflags --libs tidemill) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tidemill/c/tidemill.h>

enum { PIECE = 16384 }; /* samples */

static void write_packets(void* file, const uint8_t* packets, size_t count, int stream) {
    (void)stream;
    fwrite(packets, 188, count, file);
}

static int say(const char* what) {
    fprintf(stderr, "%s\n", what);
    return 1;
}

static tidemill_rx* make_receiver(double rate_hz, FILE* output) {
    tidemill_rx_config* config = tidemill_rx_config_new();
    tidemill_rx* rx = NULL;
    if (tidemill_rx_config_set_sample_rate(config, rate_hz) == TIDEMILL_OK &&
        tidemill_rx_config_on_packets(config, write_packets, output) == TIDEMILL_OK)
        rx = tidemill_rx_new(config);
    tidemill_rx_config_free(config);
    return rx;
}

static int receive(FILE* samples, tidemill_rx* rx) {
    static float piece[2 * PIECE];
    tidemill_rx_report report;
    size_t count;
    while ((count = fread(piece, 2 * sizeof(float), PIECE, samples)) > 0)
        if (tidemill_rx_push(rx, piece, count) != TIDEMILL_OK) return say(tidemill_error());
    report.size = sizeof(report);
    if (tidemill_rx_join(rx, &report) != TIDEMILL_OK) return say(tidemill_error());
    printf("%lu frames, %lu bad, Es/N0 %.1f dB, %lu packets\n", (unsigned long)report.frames,
           (unsigned long)report.frames_bad, report.esn0_db, (unsigned long)report.packets);
    return 0;
}

int main(int argc, char** argv) {
    FILE *samples, *output;
    tidemill_rx* rx;
    int status;
    if (argc != 4) return say("usage: receive SAMPLES SAMPLE_RATE_HZ OUTPUT.ts");
    samples = strcmp(argv[1], "-") == 0 ? stdin : fopen(argv[1], "rb");
    output = fopen(argv[3], "wb");
    if (!samples || !output) return say("a file cannot be opened");
    rx = make_receiver(atof(argv[2]), output);
    if (!rx) return say(tidemill_error());
    status = receive(samples, rx);
    tidemill_rx_free(rx);
    fclose(output);
    return status;
}
