/**
 * Encrypts backups in the age format (https://age-encryption.org/v1), which the `age` tool opens as well: by recipients
 * or by a passphrase, streamed so that memory stays flat however large the file is.
 */
import { open } from 'node:fs/promises';
import { StartupError } from '../core/startup-error.ts';

/** The recipients or the passphrase that a backup is encrypted for. */
export interface Locks {
  /** `age1…` */
  readonly recipients: readonly string[];
  readonly passphrase: string | null;
}

/** The identities or the passphrase that open a backup. */
export interface Keys {
  /** `AGE-SECRET-KEY-1…` */
  readonly identities: readonly string[];
  readonly passphrase: string | null;
}

export const NO_LOCKS: Locks = { recipients: [], passphrase: null };

/** Takes 64 MiB to derive the key. The format's usual 18 takes four times that, on a server that may have little. */
const SCRYPT_WORK = 16;
export const SHORTEST_PASSPHRASE = 12;
/** Bytes per flush: more would delay other writers to the disk. */
const FLUSH_BYTES = 32 * 2 ** 20;
const MAGIC = 'age-encryption.org/v1\n';

export function isEncrypted(locks: Locks): boolean {
  return locks.recipients.length > 0 || locks.passphrase !== null;
}

/** Returns whether a file is encrypted, by its first bytes. */
export function isAge(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, MAGIC.length)).toString('latin1') === MAGIC;
}

export interface Written {
  readonly bytes: number;
  readonly sha256: string;
}

/** Writes a stream to a new private file and flushes it. An existing file, above all a link, is never written to. */
export async function writeFlushed(
  stream: ReadableStream<Uint8Array>,
  path: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<Written> {
  const file = await open(path, 'wx', 0o600);
  const hasher = new Bun.CryptoHasher('sha256');
  let bytes = 0;
  let flushed = 0;
  try {
    for await (const piece of stream) {
      hasher.update(piece);
      for (let rest = piece; rest.length > 0;) rest = rest.subarray((await file.write(rest)).bytesWritten);
      bytes += piece.length;
      if (bytes - flushed >= FLUSH_BYTES) {
        await file.datasync();
        flushed = bytes;
      }
      onBytes(bytes);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, sha256: hasher.digest('hex') };
}

/** Streams a file; each chunk is read when the previous one was taken. */
export function piecesOf(path: string): ReadableStream<Uint8Array> {
  return Bun.file(path).stream();
}

export async function encrypt(
  stream: ReadableStream<Uint8Array>,
  { recipients, passphrase }: Locks,
): Promise<ReadableStream<Uint8Array>> {
  // Imported lazily: a start of the server does not need it.
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient);
    } catch (cause) {
      throw new StartupError(`${recipient} is no age recipient; give one as age-keygen prints it.`, { cause });
    }
  }
  if (passphrase !== null) {
    encrypter.setScryptWorkFactor(SCRYPT_WORK);
    encrypter.setPassphrase(passphrase);
  }
  return encrypter.encrypt(stream);
}

/** @throws {StartupError} if no key opens it. Damage shows while it is read. */
export async function decrypt(
  stream: ReadableStream<Uint8Array>,
  { identities, passphrase }: Keys,
  name: string,
): Promise<ReadableStream<Uint8Array>> {
  if (identities.length === 0 && passphrase === null)
    throw new StartupError(`${name} is encrypted; give --passphrase-file or --identity-file.`);
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of identities) {
    try {
      decrypter.addIdentity(identity);
    } catch (cause) {
      throw new StartupError('The identity file holds no age identity (AGE-SECRET-KEY-1…).', { cause });
    }
  }
  if (passphrase !== null) decrypter.addPassphrase(passphrase);
  try {
    return await decrypter.decrypt(stream);
  } catch (cause) {
    const { message } = cause as Error;
    if (/no identity matched/i.test(message)) {
      const what = passphrase === null ? 'identity' : 'passphrase';
      throw new StartupError(`The ${what} does not open ${name}; give the one that it was encrypted for.`, { cause });
    }
    throw new StartupError(`${name} is damaged or not whole (${message}). Nothing was changed.`, { cause });
  }
}
