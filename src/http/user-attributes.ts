/** Schemas of what an application's own systems keep about a user: their id there, and metadata. */
import { type SchemaOptions, Type } from '@sinclair/typebox';
import { Nullable } from './schemas.ts';

/** Printable ASCII: look-alikes of other scripts and invisible characters would make different ids look equal. */
export const ExternalId = (options: SchemaOptions = {}) =>
  Type.String({
    minLength: 1,
    maxLength: 128,
    pattern: '^[!-~](?:[ -~]*[!-~])?$',
    remedy: 'Give 1 to 128 printable ASCII characters, without spaces at either end.',
    examples: ['crm-4711'],
    ...options,
  });

const remedy = 'Give a JSON object of at most 4096 bytes.';

export const MetadataObject = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'Metadata',
  description: 'A JSON object of at most 4096 bytes, for your own use.',
  remedy,
  examples: [{ plan: 'pro' }],
});

/** Fields that imports and management set. */
export const ATTRIBUTES_INPUT = {
  externalId: Type.Optional(
    Nullable(ExternalId({ description: 'Their id in your own systems, unique in the application.' })),
  ),
  metadata: Type.Optional(Nullable(MetadataObject)),
};
