/**
 * Checks the write-ahead log of a killed server before SQLite recovers it: recovery stops at the first invalid frame,
 * so a truncated log would lose acknowledged changes silently. The WAL index (`-shm`) survives a kill and has the
 * number of committed frames: https://www.sqlite.org/walformat.html
 */
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { uptime } from 'node:os';
import { readHead } from './file-head.ts';

/** Committed frames that cannot be read any more. */
export interface WalLoss {
  readonly committed: number;
  readonly readable: number;
  /** After a power cut the index may count frames that were never flushed, and so never acknowledged. */
  readonly isMachineRestarted: boolean;
}

interface Log {
  readonly frames: number;
  readonly salts: string;
}

interface Index extends Log {
  /** Frames that a checkpoint has copied into the database file. */
  readonly copied: number;
}

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const INDEX_HEADER_BYTES = 48;
const BIG_ENDIAN_MAGIC = 0x377f0683;
const LITTLE_ENDIAN_MAGIC = 0x377f0682;
const FRAMES_READ = 256;
const BOOT_SLACK_MS = 5000;

/** @param now in epoch milliseconds. @returns null where no frame is missing, or no index of this log tells. */
export function findWalLoss(databasePath: string, now: number): WalLoss | null {
  const indexPath = `${databasePath}-shm`;
  const index = readIndex(indexPath);
  if (index === null || index.frames === 0) return null;
  const log = readLog(`${databasePath}-wal`);
  if (log !== null && log.salts !== index.salts) return null;
  const readable = log?.frames ?? 0;
  if (readable >= index.frames || (readable === 0 && index.copied >= index.frames)) return null;
  const bootedAt = now - uptime() * 1000;
  const isMachineRestarted = statSync(indexPath).mtimeMs < bootedAt - BOOT_SLACK_MS;
  return { committed: index.frames, readable, isMachineRestarted };
}

/** Reads the index's two equal headers, in the machine's byte order. */
function readIndex(path: string): Index | null {
  const bytes = readStart(path, 2 * INDEX_HEADER_BYTES + 4);
  if (bytes === null) return null;
  const [first, second] = [bytes.subarray(0, INDEX_HEADER_BYTES), bytes.subarray(INDEX_HEADER_BYTES)];
  // They differ where the kill came between the two writes.
  if (first.compare(second, 0, INDEX_HEADER_BYTES) !== 0 || first[12] !== 1) return null;
  const words = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  return { frames: words[4] as number, copied: words[24] as number, salts: first.toString('hex', 32, 40) };
}

/** Counts the frames up to the last valid commit, as recovery does. @returns null where there is no header. */
function readLog(path: string): Log | null {
  const header = readStart(path, LOG_HEADER_BYTES);
  const magic = header?.readUInt32BE(0);
  if (header === null || (magic !== BIG_ENDIAN_MAGIC && magic !== LITTLE_ENDIAN_MAGIC)) return null;
  const sum = checksum(magic === LITTLE_ENDIAN_MAGIC);
  sum.add(header.subarray(0, 24));
  if (!sum.is(header, 24)) return null;
  const salts = header.toString('hex', 16, 24);
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8);
  const piece = Buffer.alloc(FRAMES_READ * frameBytes);
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    let [frame, committed] = [0, 0];
    for (let at = LOG_HEADER_BYTES; at + frameBytes <= size;) {
      const length = readSync(file, piece, 0, piece.length, at);
      const whole = Math.floor(length / frameBytes);
      for (let each = 0; each < whole; each += 1) {
        const bytes = piece.subarray(each * frameBytes, (each + 1) * frameBytes);
        sum.add(bytes.subarray(0, 8));
        sum.add(bytes.subarray(FRAME_HEADER_BYTES));
        if (bytes.toString('hex', 8, 16) !== salts || !sum.is(bytes, 16)) return { frames: committed, salts };
        frame += 1;
        if (bytes.readUInt32BE(4) !== 0) committed = frame;
      }
      if (whole === 0) break;
      at += whole * frameBytes;
    }
    return { frames: committed, salts };
  } finally {
    closeSync(file);
  }
}

/** The log's checksum, which is cumulative over all frames. */
function checksum(isLittleEndian: boolean) {
  let [first, second] = [0, 0];
  return {
    add(bytes: Buffer): void {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      for (let at = 0; at < bytes.length; at += 8) {
        first = (first + view.getUint32(at, isLittleEndian) + second) | 0;
        second = (second + view.getUint32(at + 4, isLittleEndian) + first) | 0;
      }
    },
    is: (bytes: Buffer, at: number) =>
      bytes.readUInt32BE(at) === first >>> 0 && bytes.readUInt32BE(at + 4) === second >>> 0,
  };
}

/** @returns null where the file is missing or shorter. */
function readStart(path: string, length: number): Buffer | null {
  const head = existsSync(path) ? readHead(path, length) : null;
  return head?.length === length ? head : null;
}
