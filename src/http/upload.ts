/** Reads an uploaded file, raw or as a form's one field; without free memory it is refused before its body is read. */
import { free, freePart } from '../core/buffer.ts';
import { AppError, invalidField } from '../core/error.ts';
import { pool } from '../core/pool.ts';
import { mediaTypeOf, partsOf } from './body.ts';
import { fileOfForm } from './multipart.ts';

/** Declared by an operation whose body is a file. */
export interface UploadRule {
  /** Limit of the whole body. */
  readonly maxBytes: number;
  readonly mediaTypes: readonly string[];
}

/** Form field of the file, also named in refusals. */
export const UPLOAD_FIELD = 'file';

export const FORM_TYPE = 'multipart/form-data';

const MIB = 1024 * 1024;

/** Bytes of bodies held until their result is stored: two of the largest, and a small one besides. */
const MAX_HELD_BYTES = 21 * MIB;
const MAX_HELD = 64;
export const MAX_HELD_PER_CALLER = 4;

/** Pace at which a body reserves its full size; a slower one counts only what has arrived. */
const GRACE_MS = 1500;
const EXPECTED_BYTES_PER_MS = 500;

/** Time limit of a body: 20 s, and more while it arrives at the rate of a slow line. */
const MIN_READING_MS = 20_000;
const SLOWEST_BYTES_PER_MS = 100;

/** Roughly the time to process a picture. */
const RETRY_AFTER_SECONDS = 2;

export interface Upload {
  /** Returns the file, a view of memory that the caller may change and free. */
  read(): Promise<Uint8Array>;
  /** Releases the memory, and the file with it. */
  close(): void;
}

/** Memory pool of uploads, shared by all callers. */
export interface UploadIntake {
  /**
   * Checks a request by its head alone, and reserves room for its body. @param caller subject of the limit per caller.
   *
   * @throws {AppError} unsupported_media_type, payload_too_large, unavailable
   */
  open(request: Request, rule: UploadRule, caller: string): Upload;
}

interface Held {
  /** Declared length, else the maximum. */
  readonly size: number;
  readonly startedAt: number;
  arrived: number;
  /** Whether it was ever too slow. Never reset, because its memory may already be reserved by another upload. */
  isLate: boolean;
}

/** Creates a pool of 21 MiB and 64 bodies at most, 4 per caller. Only tests set its times, in milliseconds. */
export function uploadIntake({ minReadingMs = MIN_READING_MS, graceMs = GRACE_MS } = {}): UploadIntake {
  const held = new Set<Held>();
  const slots = pool({ total: MAX_HELD, perKey: MAX_HELD_PER_CALLER });

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
    if (heldBytes() + size > MAX_HELD_BYTES || !slots.take(caller)) throw noRoom();
    const body = { size, startedAt: performance.now(), arrived: 0, isLate: false };
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

      /** Allocates the whole buffer at once; only the written part takes up memory. */
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
          if (held.delete(own)) slots.release(caller);
          // Left to the garbage collector, the bodies of a busy minute would add up.
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
