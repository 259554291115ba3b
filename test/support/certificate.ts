/** Self-signed certificates for tests. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';

const DAY = 86_400_000;

export interface CertificateGiven {
  /** Lets a client tell two certificates apart. */
  readonly name?: string;
  readonly beginsAt?: number;
  readonly endsAt?: number;
}

export interface MadeCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Makes a certificate for `localhost` and 127.0.0.1, by default valid from yesterday for sixty days. */
export async function makeCertificate({ name = 'first', ...times }: CertificateGiven = {}): Promise<MadeCertificate> {
  const { beginsAt = Date.now() - DAY, endsAt = Date.now() + 60 * DAY } = times;
  const made = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    notBeforeDate: new Date(beginsAt),
    notAfterDate: new Date(endsAt),
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  return { cert: made.cert, key: made.private };
}

/** Writes both files, replacing older ones. @returns their paths. */
export function writeCertificate(folder: string, { cert, key }: MadeCertificate) {
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  return files;
}
