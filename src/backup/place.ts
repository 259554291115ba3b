/** Places of backups: a disk of this machine, or an S3 bucket. */
import { resolve } from 'node:path';
import { StartupError } from '../core/startup-error.ts';

/** Access to a bucket; null fields are left to the usual variables of S3 tools. */
export interface BucketAccess {
  readonly endpoint: string | null;
  readonly region: string | null;
  readonly accessKeyId: string | null;
  readonly secretAccessKey: string | null;
}

/** A file or a folder, or an object or a prefix of a bucket. */
export type BackupPlace =
  | { readonly kind: 'disk'; readonly path: string }
  | { readonly kind: 'bucket'; readonly bucket: string; readonly key: string };

/** Bucket naming rules: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
export const BUCKET_RULE =
  'the name of a bucket has 3 to 63 letters, digits, dots and hyphens, with a letter or digit at both ends';

const BUCKET = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/+(.*))?$/i;

/** @returns null for a malformed address of a bucket, see `BUCKET_RULE`; everything else is a path. */
export function parsePlace(text: string): BackupPlace | null {
  if (!/^s3:/i.test(text)) return text === '' ? null : { kind: 'disk', path: resolve(text) };
  const [, bucket, key = ''] = BUCKET.exec(text) ?? [];
  return bucket === undefined ? null : { kind: 'bucket', bucket, key: key.replace(/\/+$/, '') };
}

/** Returns the place as written in settings and on the command line. */
export function placeText(place: BackupPlace): string {
  return place.kind === 'disk' ? place.path : `s3://${place.bucket}${place.key && `/${place.key}`}`;
}

/** Returns the place of a name in a folder, or below a prefix. */
export function placeIn(place: BackupPlace, name: string): BackupPlace {
  return place.kind === 'disk'
    ? { kind: 'disk', path: resolve(place.path, name) }
    : { ...place, key: place.key === '' ? name : `${place.key}/${name}` };
}

export function bucketOf(name: string, access: BucketAccess): Bun.S3Client {
  const { endpoint, region, accessKeyId, secretAccessKey } = access;
  return new Bun.S3Client({
    bucket: name,
    ...(endpoint !== null && { endpoint }),
    ...(region !== null && { region }),
    ...(accessKeyId !== null && { accessKeyId }),
    ...(secretAccessKey !== null && { secretAccessKey }),
  });
}

const REMEDIES: Readonly<Record<string, string>> = {
  ERR_S3_MISSING_CREDENTIALS: 'Set GATEHOUSE_S3_ACCESS_KEY_ID and GATEHOUSE_S3_SECRET_ACCESS_KEY.',
  NoSuchBucket: 'There is no such bucket; create it first, or correct its name.',
  NoSuchKey: 'There is no such object in it.',
  AccessDenied: 'The key has no right to it; it needs to list, read, write and delete objects.',
  InvalidAccessKeyId: 'The access key is not known there; see GATEHOUSE_S3_ACCESS_KEY_ID.',
  SignatureDoesNotMatch: 'The secret does not fit the access key; see GATEHOUSE_S3_SECRET_ACCESS_KEY.',
  ConnectionRefused: 'Nobody answers there; see GATEHOUSE_S3_ENDPOINT.',
};

/** Returns a bucket's error with its remedy, for the operator. */
export function bucketTrouble(error: unknown, place: BackupPlace): StartupError {
  const { code = '', message = String(error) } = error as { code?: string; message?: string };
  const remedy = REMEDIES[code] ?? `${message.replace(/\.?$/, '.')} See the GATEHOUSE_S3_… settings.`;
  return new StartupError(`${placeText(place)} cannot be used (${code || 'no answer'}): ${remedy}`, { cause: error });
}
