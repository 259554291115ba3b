/** Schema and rules of a person's names, language and time zone. */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Input } from './schemas.ts';
import * as fields from './text-fields.ts';

/** Leaves length and form to the rule, which counts code points. */
export const GivenText = ({ remedy }: fields.FieldRule) => Type.String({ remedy, description: remedy });

export const OrNull = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()], { remedy: schema['remedy'] }));

export const GivenOrNull = (rule: fields.FieldRule) => OrNull(GivenText(rule));

export const IDENTITY_RULES = {
  fullName: fields.line(100),
  givenName: fields.line(100),
  familyName: fields.line(100),
  locale: fields.locale,
  timezone: fields.timeZone,
} as const;

export const IdentityPatch = Input(
  {
    fullName: GivenOrNull(IDENTITY_RULES.fullName),
    givenName: GivenOrNull(IDENTITY_RULES.givenName),
    familyName: GivenOrNull(IDENTITY_RULES.familyName),
    locale: GivenOrNull(IDENTITY_RULES.locale),
    timezone: GivenOrNull(IDENTITY_RULES.timezone),
  },
  { $id: 'IdentityPatch' },
);
export type IdentityPatch = Static<typeof IdentityPatch>;
