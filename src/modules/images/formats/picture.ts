/** What a picture says of itself, read from its own bytes before anything is decoded; each format reads its own. */
import { type AppError, invalidField } from '../../../core/error.ts';

/** How the stored pixels are to be turned, as EXIF counts: 1 is upright, 5 to 8 swap width and height. */
export type Orientation = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

export interface Picture {
  /** What to decode: the file, or its first frame made a file of its own. */
  readonly bytes: Uint8Array;
  /** As stored, before it is turned. */
  readonly width: number;
  readonly height: number;
  readonly orientation: Orientation;
  /** Whether no pixel of it can be seen through, as far as its header tells. */
  readonly isOpaque: boolean;
  /** Memory the decoder needs for each stored pixel besides the pixels it gives, in bytes. */
  readonly decoderBytesPerPixel: number;
  /** Whether its decoder can give it reduced by eighths, without ever holding the whole (JPEG). */
  readonly isReducible: boolean;
  /** Changes the file's header so that a decoder stops after so many lines; null where that cannot be done. */
  readonly keepLines: ((lines: number) => void) | null;
}

/** The file a person sent is no picture that can be taken. */
export function refusedFile(message: string): AppError {
  return invalidField('file', message);
}

export const damaged = () => refusedFile('This picture is cut off or damaged; save it anew and send the whole of it.');

/**
 * A file's bytes, read as numbers and text.
 *
 * @throws {AppError} invalid_request past its end: the file is cut off.
 */
export class Bytes {
  readonly #view: DataView;

  constructor(readonly all: Uint8Array) {
    this.#view = new DataView(all.buffer, all.byteOffset, all.byteLength);
  }

  get length(): number {
    return this.all.byteLength;
  }

  byte(at: number): number {
    return this.#read(at, 1, () => this.#view.getUint8(at));
  }

  number16(at: number, isLittle = false): number {
    return this.#read(at, 2, () => this.#view.getUint16(at, isLittle));
  }

  /** WebP counts in three bytes. */
  number24(at: number): number {
    return this.number16(at, true) + (this.byte(at + 2) << 16);
  }

  number32(at: number, isLittle = false): number {
    return this.#read(at, 4, () => this.#view.getUint32(at, isLittle));
  }

  write16(at: number, value: number): void {
    this.#view.setUint16(at, value);
  }

  write32(at: number, value: number): void {
    this.#view.setUint32(at, value);
  }

  hasText(at: number, text: string): boolean {
    if (at + text.length > this.length) return false;
    for (let index = 0; index < text.length; index += 1)
      if (this.all[at + index] !== text.charCodeAt(index)) return false;
    return true;
  }

  text(at: number, length: number): string {
    return String.fromCharCode(...this.slice(at, length));
  }

  /** A view, not a copy. */
  slice(at: number, length: number): Uint8Array {
    return this.#read(at, length, () => this.all.subarray(at, at + length));
  }

  #read<Value>(at: number, length: number, read: () => Value): Value {
    if (at < 0 || at + length > this.length) throw damaged();
    return read();
  }
}
