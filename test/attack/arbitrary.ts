/** Values by JSON Schema for property-based tests: valid ones, and hostile ones. */
import fc from 'fast-check';
import type { Description, Schema } from './world.ts';

/** Texts that have broken parsers, terminals, databases and pages. */
export const HOSTILE_TEXTS = [
  '',
  ' ',
  '\0',
  'nul\0byte',
  '\ud800',
  'lone\udfff',
  '\uffff',
  '\u202eevil',
  '\r\nSet-Cookie: a=b',
  '"><img src=x onerror=alert(1)>',
  "'; DROP TABLE users;--",
  '../../../../etc/passwd',
  '%00%2e%2e%2f',
  '${7*7}{{7*7}}',
  'a'.repeat(5000),
  '💣'.repeat(300),
  '1e999',
  '-0',
  '__proto__',
  'constructor',
];

const hostileText = fc.constantFrom(...HOSTILE_TEXTS);

const hostile: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(null, true, false, 0, -1, 1.5, 2 ** 53, -(2 ** 53), 1e308, [], {}, [[]], [null], { length: 1 }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constant(JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')),
);

/** Values that mostly fit a schema; `spoiled` percent of them do not. */
export function arbitraryOf(schema: Schema, description: Description, spoiled = 8): fc.Arbitrary<unknown> {
  const fitting = fittingOf(description.resolve(schema), (part) => arbitraryOf(part, description, spoiled));
  return spoiled === 0
    ? fitting
    : fc.oneof({ weight: 100 - spoiled, arbitrary: fitting }, { weight: spoiled, arbitrary: hostile });
}

function fittingOf(schema: Schema, part: (schema: Schema) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(part));
  if (schema.allOf) return fc.tuple(...schema.allOf.map(part)).map((parts) => Object.assign({}, ...parts));
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map(part));
  if (typeof schema.type === 'object') return fc.oneof(...schema.type.map((type) => part({ ...schema, type })));
  switch (schema.type) {
    case 'object':
      return fc.record(
        Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, value]) => [name, part(value)])),
        { requiredKeys: [...(schema.required ?? [])] },
      );
    case 'array': {
      const { minItems: minLength = 0, maxItems = 3 } = schema;
      return fc.array(part(schema.items ?? {}), { minLength, maxLength: Math.min(maxItems, minLength + 3) });
    }
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -5, max: Math.min(schema.maximum ?? 1000, 2 ** 31 - 1) });
    case 'number':
      return fc.double({ min: schema.minimum ?? -5, max: schema.maximum ?? 1000, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function textOf({ examples, pattern, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  const texts: fc.Arbitrary<string>[] = [];
  if (examples?.length) texts.push(fc.constantFrom(...(examples as string[])));
  const matching = pattern === undefined ? null : matchingTo(pattern);
  texts.push(matching ?? fc.string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, minLength + 60) }));
  texts.push(fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 20) }));
  return fc.oneof(...texts);
}

/** Returns null for a pattern with a lookahead, from which no text can be generated. */
function matchingTo(pattern: string): fc.Arbitrary<string> | null {
  try {
    return fc.stringMatching(new RegExp(pattern));
  } catch {
    return null;
  }
}
