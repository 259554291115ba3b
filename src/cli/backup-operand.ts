import { type BackupPlace, BUCKET_RULE, parsePlace } from '../backup/place.ts';
import { UsageError } from './arguments.ts';

/** @throws {UsageError} */
export function backupOperand(text = ''): BackupPlace {
  const place = parsePlace(text);
  if (place === null && text !== '') throw new UsageError(`${text}: ${BUCKET_RULE}. Name an object: s3://bucket/name.`);
  if (place === null || (place.kind === 'bucket' && place.key === ''))
    throw new UsageError('Name a file, or an object in a bucket: s3://bucket/name.');
  return place;
}
