/** The operand that names a backup. */
import { parsePlace, type BackupPlace } from '../backup/place.ts';
import { UsageError } from './arguments.ts';

/** @throws {UsageError} */
export function placeOperand(text: string | undefined): BackupPlace {
  const place = text === undefined ? null : parsePlace(text);
  if (place === null || (place.kind === 'bucket' && place.key === ''))
    throw new UsageError('Name a file, or an object in a bucket: s3://bucket/name.');
  return place;
}
