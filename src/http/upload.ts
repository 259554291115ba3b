/**
 * Reads a file that is sent, as it is or as the one field of a form. What is held in memory at once is bounded: who comes
 * when there is no room is sent away before anything of the body is read.
 */
import { free, freePart } from '../core/buffer.ts';
import { AppError, invalidField } from '../core/error.ts';
import { mediaTypeOf, partsOf } from './body.ts';
import { fileOfForm } from './multipart.ts';

/** Declared by an operation whose body is a file. */
export interface UploadRule {
  /** Of the whole body. */
  readonly maxBytes: number;
  readonly mediaTypes: readonly string[];
}

/** The field of a form that the file stands in, and the name that refusals go by. */
export const UPLOAD_FIELD = 'file';

export const FORM_TYPE = 'multipart/form-data';

const MIB = 1024 * 1024;

/** Bodies in memory, until what is made of them is stored: two of the largest, and a small one beside them. */
const MAX_HELD_BYTES = 21 * MIB;
const MAX_HELD = 64;
export const MAX_HELD_PER_CALLER = 4;

/** A body has room for all of it as long as it arrives like this; of one that trickles, only what has arrived counts. */
const GRACE_MS = 1500;
const EXPECTED_BYTES_PER_MS = 500;

/** How long a body may take: some seconds, and more where it goes on arriving at the rate of a slow line. */
const MIN_READING_MS = 20_000;
const SLOWEST_BYTES_PER_MS = 100;

/** About what a picture takes to be worked on. */
const RETRY_AFTER_SECONDS = 2;

/** An upload that there is room for. */
export interface Upload {
  /**
   * The file: a view of memory that is the caller's to change and to give back.
   *
   * @throws {AppError} payload_too_large, request_timeout, unavailable, invalid_request
   */
  read(): Promise<Uint8Array>;
  /** Gives the room to others; the file is gone then. */
  close(): void;
}

/** The room there is for bodies, shared by all who send one. */
export interface UploadIntake {
  /**
   * Judges a request by its head alone, and holds room for its body.
   *
   * @param caller whose uploads are counted together.
   * @throws {AppError} unsupported_media_type, payload_too_large, unavailable
   */
  open(request: Request, rule: UploadRule, caller: string): Upload;
}

/** A body under way. */
interface Held {
  readonly caller: string;
  /** What was declared, or may come. */
  readonly size: number;
  readonly startedAt: number;
  arrived: number;
  /** Once it was, it stays so: others may have its room by now. */
  isLate: boolean;
}

/** Holds 21 MiB, 64 bodies and 4 of one caller at most. Its times are in milliseconds, and given by tests only. */
export function uploadIntake({ minReadingMs = MIN_READING_MS, graceMs = GRACE_MS } = {}): UploadIntake {
  const held = new Set<Held>();

  function heldBytes(): number {
    const now = performance.now();
    let bytes = 0;
    for (const body of held) {
      const overdueMs = now - body.startedAt - graceMs;
      if (body.arrived < Math.min(body.size, overdueMs * EXPECTED_BYTES_PER_MS)) body.isLate = true;
      bytes += body.isLate ? body.arrived : body.size;
    }
    return bytes;
  }

  function hold(caller: string, size: number): Held {
    const own = [...held].filter((body) => body.caller === caller).length;
    if (own >= MAX_HELD_PER_CALLER || held.size >= MAX_HELD || heldBytes() + size > MAX_HELD_BYTES) throw noRoom();
    const body = { caller, size, startedAt: performance.now(), arrived: 0, isLate: false };
    held.add(body);
    return body;
  }

  return {
    open(request, rule, caller) {
      const contentType = request.headers.get('content-type') ?? '';
      const mediaType = mediaTypeOf(contentType);
      if (mediaType !== FORM_TYPE && !rule.mediaTypes.includes(mediaType)) throw otherType(rule);
      const declared = request.headers.get('content-length');
      const size = declared === null ? rule.maxBytes : Number(declared);
      if (!(size <= rule.maxBytes)) throw tooLarge(rule);
      const own = hold(caller, size);
      let bytes: Uint8Array<ArrayBuffer> | undefined;

      /** The buffer is there from the start; only what is written to takes up memory. */
      async function readAll(): Promise<Uint8Array> {
        const all = (bytes = new Uint8Array(size));
        for await (const chunk of request.body ? partsOf(request.body) : []) {
          const isTooSlow = performance.now() - own.startedAt > minReadingMs + own.arrived / SLOWEST_BYTES_PER_MS;
          if (own.arrived + chunk.byteLength > size) throw tooLarge(rule);
          if (isTooSlow) throw new AppError('request_timeout');
          if (own.isLate && heldBytes() + chunk.byteLength > MAX_HELD_BYTES) throw noRoom();
          all.set(chunk, own.arrived);
          own.arrived += chunk.byteLength;
          freePart(chunk);
        }
        return all.subarray(0, own.arrived);
      }

      return {
        async read() {
          const sent = await readAll();
          const file = mediaType === FORM_TYPE ? fileOfForm(sent, contentType, UPLOAD_FIELD) : sent;
          if (file.byteLength === 0) throw invalidField(UPLOAD_FIELD, 'The file is empty; choose another.');
          return file;
        },
        close() {
          held.delete(own);
          // Left to the collector, the bodies of a busy minute would add up.
          if (bytes) free(bytes);
        },
      };
    },
  };
}

function noRoom(): AppError {
  return new AppError('unavailable', { hint: 'too_many_uploads', retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function tooLarge({ maxBytes }: UploadRule): AppError {
  return new AppError('payload_too_large', { hint: 'file_too_large', values: { mebibytes: maxBytes / MIB } });
}

function otherType({ mediaTypes }: UploadRule): AppError {
  return new AppError('unsupported_media_type', {
    hint: 'file_type_refused',
    values: { mediaTypes: mediaTypes.join(', ') },
  });
}
