/** Writes sentences for schema errors: each says what to give instead, and never echoes the value. */
import type { TSchema } from '@sinclair/typebox';
import { type ValueError, ValueErrorType as Kind } from '@sinclair/typebox/compiler';
import { nearestWord } from '../core/nearest-word.ts';
import { counted } from '../core/quantities.ts';

/** Returns how to fix a value: the `remedy` of the schema or of a union's part. It always names an exceeded limit. */
export function remedyFor({ type, schema, path }: ValueError): string {
  if (type === Kind.ObjectAdditionalProperties) return unknownField(schema, path);
  if (type === Kind.ObjectRequiredProperty) return 'This field is required.';
  const own = [schema, ...partsOf(schema)]
    .map((part): unknown => part['remedy'])
    .find((sentence) => typeof sentence === 'string');
  const limit = LIMITS[type];
  if (own === undefined || (limit !== undefined && !own.includes(numberText(schema[limit]))))
    return sentenceFor(schema);
  return own;
}

/** Schema keyword of the exceeded limit, by error. */
const LIMITS: Partial<Record<Kind, string>> = {
  [Kind.StringMaxLength]: 'maxLength',
  [Kind.ArrayMaxItems]: 'maxItems',
  [Kind.IntegerMaximum]: 'maximum',
  [Kind.NumberMaximum]: 'maximum',
  [Kind.ObjectMaxProperties]: 'maxProperties',
};

/** Describes what the schema takes, limits included. A pattern cannot be described and needs a remedy of its own. */
function sentenceFor(schema: TSchema): string {
  return `Give ${nounFor(schema)}.`;
}

function nounFor(schema: TSchema): string {
  const parts = partsOf(schema);
  if (parts.length > 0) return [...new Set(parts.map(nounFor))].join(' or ');
  if (Array.isArray(schema['enum'])) return `one of: ${schema['enum'].join(', ')}`;
  if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
  switch (schema['type']) {
    case 'string':
      return amount(schema['minLength'], schema['maxLength'], 'character') ?? 'a text';
    case 'array': {
      const entries = amount(schema['minItems'], schema['maxItems'], 'entry', 'entries') ?? 'a list';
      return schema['uniqueItems'] === true ? `${entries} without repeats` : entries;
    }
    case 'object':
      return amount(schema['minProperties'], schema['maxProperties'], 'field') ?? 'a JSON object';
    case 'integer':
    case 'number':
      return `a ${schema['type'] === 'integer' ? 'whole ' : ''}number${range(schema['minimum'], schema['maximum'])}`;
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    default:
      return 'what the description of this operation names here';
  }
}

function amount(least: unknown, most: unknown, noun: string, plural?: string): string | null {
  const [min, max] = [Number(least ?? 0), Number(most ?? Number.POSITIVE_INFINITY)];
  if (max === Number.POSITIVE_INFINITY) return min > 0 ? `at least ${counted(min, noun, plural)}` : null;
  if (min === 0) return `at most ${counted(max, noun, plural)}`;
  return min === max ? `exactly ${counted(max, noun, plural)}` : `${numberText(min)} to ${counted(max, noun, plural)}`;
}

function range(least: unknown, most: unknown): string {
  if (least !== undefined && most !== undefined) return ` from ${numberText(least)} to ${numberText(most)}`;
  if (least !== undefined) return ` of at least ${numberText(least)}`;
  return most === undefined ? '' : ` of at most ${numberText(most)}`;
}

const numberText = (value: unknown): string => Number(value).toLocaleString('en');

function partsOf(schema: TSchema): TSchema[] {
  return (schema['anyOf'] as TSchema[] | undefined) ?? [];
}

/** Names of one idea elsewhere in the API or in other systems, which no likeness of letters finds. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  slugs: ['roles', 'scopes', 'memberships'],
  role: ['roles', 'defaultRoles'],
  roles: ['roleSlugs', 'slugs', 'defaultRoles'],
  roleSlugs: ['roles', 'slugs', 'defaultRoles'],
  permissions: ['scopes', 'roles'],
  scopes: ['scopeSlugs', 'slugs'],
  scopeSlugs: ['scopes', 'slugs'],
  groups: ['memberships', 'membershipSlugs', 'slugs'],
  memberships: ['groups', 'membershipSlugs', 'slugs'],
  membershipSlugs: ['memberships', 'groups', 'slugs'],
};

/** Suggests the known field that was probably meant; never echoes the one sent. */
function unknownField(schema: TSchema, path: string): string {
  const known = Object.keys((schema['properties'] ?? {}) as object);
  const sent = path.slice(path.lastIndexOf('/') + 1);
  const others = Object.hasOwn(OTHER_NAMES, sent) ? OTHER_NAMES[sent] : undefined;
  const meant = others?.find((name) => known.includes(name)) ?? nearestWord(sent, known);
  return `This field is not known here; ${meant === null ? 'remove it.' : `did you mean "${meant}"?`}`;
}
