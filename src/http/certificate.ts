/** Reads a certificate and its key from files, and reports what is wrong with them before they are used. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { DAY, isoTime } from '../core/clock.ts';
import { withoutBrackets } from '../core/ip-address.ts';
import { StartupError } from '../core/startup-error.ts';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface Certificate {
  readonly files: CertificateFiles;
  /** PEM: the certificate and its chain. */
  readonly cert: string;
  readonly key: string;
  /** In epoch milliseconds. */
  readonly expiresAt: number;
  /** Names that it is valid for, as written in it. */
  readonly names: string;
  /** Whether every user of the machine may read the key file. */
  readonly isKeyOpen: boolean;
  covers(hostname: string): boolean;
}

/** Time before expiry from which the log warns every day. */
export const EXPIRY_WARNING_MS = 14 * DAY;

const CERT = '--tls-cert (GATEHOUSE_TLS_CERT)';
const KEY = '--tls-key (GATEHOUSE_TLS_KEY)';

/** Reads and checks both files. @throws {StartupError} if unreadable, mismatched or not valid at `now`. */
export function readCertificate(files: CertificateFiles, now: number): Certificate {
  const { certFile, keyFile } = files;
  const cert = readText(CERT, certFile);
  const key = readText(KEY, keyFile);
  const read = certificateIn(cert, certFile);
  if (!read.checkPrivateKey(keyIn(key, keyFile)))
    throw new StartupError(
      `${KEY}: ${keyFile} is not the key of the certificate in ${certFile}; give the two that were made together.`,
    );
  const [begins, expiresAt] = [read.validFromDate.getTime(), read.validToDate.getTime()];
  if (expiresAt <= now)
    throw new StartupError(`${CERT}: ${certFile} expired at ${isoTime(expiresAt)}; renew it, then start again.`);
  if (begins > now)
    throw new StartupError(
      `${CERT}: ${certFile} is in force from ${isoTime(begins)} only; give one that is, or set this machine’s clock.`,
    );
  return {
    files,
    cert,
    key,
    expiresAt,
    names: read.subjectAltName ?? read.subject,
    isKeyOpen: process.platform !== 'win32' && (statSync(keyFile).mode & 0o004) !== 0,
    covers: (hostname) => isCovered(read, withoutBrackets(hostname)),
  };
}

/** Returns warnings about a certificate that is accepted all the same. */
export function certificateWarnings(certificate: Certificate, baseUrl: string): string[] {
  const { hostname } = new URL(baseUrl);
  const { isKeyOpen, names, covers, files } = certificate;
  return [
    ...(isKeyOpen
      ? [`the key in ${files.keyFile} can be read by every user of this machine: chmod o-r ${files.keyFile}`]
      : []),
    ...(covers(hostname)
      ? []
      : [
          `the certificate is not for ${hostname}, the name in the base URL, but for ${names}: browsers will refuse it`,
        ]),
  ];
}

function isCovered(certificate: X509Certificate, hostname: string): boolean {
  return (certificate.checkHost(hostname) ?? certificate.checkIP(hostname)) !== undefined;
}

function readText(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const told =
      code === 'ENOENT'
        ? 'does not exist; name the file'
        : code === 'EACCES' || code === 'EPERM'
          ? 'cannot be read by the user that the server runs as; give that user the right to'
          : `cannot be read (${code ?? message}); name a PEM file`;
    throw new StartupError(`${flag}: ${path} ${told}.`, { cause });
  }
}

function certificateIn(text: string, path: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (cause) {
    throw new StartupError(
      `${CERT}: ${path} holds no certificate in PEM form ("BEGIN CERTIFICATE"); give the whole chain, the server’s own first.`,
      { cause },
    );
  }
}

function keyIn(text: string, path: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (cause) {
    const isLocked = (cause as NodeJS.ErrnoException).code === 'ERR_MISSING_PASSPHRASE';
    throw new StartupError(
      isLocked
        ? `${KEY}: ${path} is locked with a passphrase; give the key without one (openssl pkey -in ${path} -out key.pem).`
        : `${KEY}: ${path} holds no private key in PEM form ("BEGIN PRIVATE KEY"); give the key of the certificate.`,
      { cause },
    );
  }
}
