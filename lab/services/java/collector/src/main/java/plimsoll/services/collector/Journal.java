package plimsoll.services.collector;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A file of lines, each on the disk before its writer goes on. */
final class Journal {
    private static final byte[] END_OF_LINE = {'\n'};

    private final FileChannel file;

    Journal(String path) throws IOException {
        file = FileChannel.open(Path.of(path), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** Appends one line. Writers wait for each other. */
    synchronized void append(byte[] line) throws IOException {
        ByteBuffer[] parts = {ByteBuffer.wrap(line), ByteBuffer.wrap(END_OF_LINE)};
        while (parts[1].hasRemaining()) {
            file.write(parts);
        }
        file.force(false);
    }
}
