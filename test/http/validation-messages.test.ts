/** Messages for values that a schema refuses: plain, with a remedy, and never in the validator's words. */
import { describe, expect, test } from 'bun:test';
import { type TSchema, Type } from '@sinclair/typebox';
import { DefaultErrorFunction, ValueErrorType } from '@sinclair/typebox/errors';
import { AppError } from '@/core/error.ts';
import { Choice, Input, Nullable } from '@/http/schemas.ts';
import { validator } from '@/http/validate.ts';
import { createInstance } from '../support/instance.ts';

/** Returns the messages for a value, by field. */
function refusal(schema: TSchema, value: unknown): Record<string, string> {
  try {
    validator(schema)(value);
    return {};
  } catch (error) {
    const { fields = [] } = error as AppError;
    return Object.fromEntries(fields.map(({ path, message }) => [path, message]));
  }
}

const one = (schema: TSchema, value: unknown) => refusal(Type.Object({ field: schema }), { field: value })['field'];
const long = 'x'.repeat(2000);

describe('the message for a refused value', () => {
  test.each([
    [Type.String(), 5, 'Give a text.'],
    [Type.String({ maxLength: 1000 }), long, 'Give at most 1,000 characters.'],
    [Type.String({ maxLength: 1000 }), null, 'Give at most 1,000 characters.'],
    [Type.String({ minLength: 1 }), '', 'Give at least 1 character.'],
    [Type.String({ minLength: 2, maxLength: 35 }), 'x', 'Give 2 to 35 characters.'],
    [Type.String({ minLength: 6, maxLength: 6 }), 'x', 'Give exactly 6 characters.'],
    [Type.Integer(), 'x', 'Give a whole number.'],
    [Type.Integer({ minimum: 1, maximum: 200 }), 0, 'Give a whole number from 1 to 200.'],
    [Type.Integer({ minimum: 1, maximum: 1_000_000 }), 1e9, 'Give a whole number from 1 to 1,000,000.'],
    [Type.Integer({ minimum: 0 }), -1, 'Give a whole number of at least 0.'],
    [Type.Number({ maximum: 1.5 }), 2, 'Give a number of at most 1.5.'],
    [Type.Boolean(), 'yes', 'Give true or false.'],
    [Type.Null(), 1, 'Give null.'],
    [Type.Literal('a'), 'b', 'Give "a".'],
    [Type.Array(Type.String()), 'x', 'Give a list.'],
    [Type.Array(Type.String(), { minItems: 1, maxItems: 2 }), [], 'Give 1 to 2 entries.'],
    [Type.Array(Type.String(), { maxItems: 1 }), ['a', 'b'], 'Give at most 1 entry.'],
    [Type.Array(Type.String(), { uniqueItems: true }), ['a', 'a'], 'Give a list without repeats.'],
    [Type.Object({}), 'x', 'Give a JSON object.'],
    [Type.Object({}, { maxProperties: 1 }), { a: 1, b: 2 }, 'Give at most 1 field.'],
    [Nullable(Type.String({ maxLength: 3 })), 'xxxx', 'Give at most 3 characters or null.'],
    [Choice(['a', 'b'], { remedy: undefined }), 'c', 'Give one of: a, b.'],
    [Choice(['a', 'b']), 'c', 'Give one of: a, b.'],
    [Type.String({ maxLength: 9, remedy: 'Give a name.' }), 5, 'Give a name.'],
    [Type.String({ maxLength: 9, remedy: 'Give a name.' }), long, 'Give at most 9 characters.'],
    [Type.String({ maxLength: 9, remedy: 'Give a name of up to 9 letters.' }), long, 'Give a name of up to 9 letters.'],
  ] as [TSchema, unknown, string][])('names the value to give: %j', (schema, value, sentence) => {
    expect(one(schema, value)).toBe(sentence);
  });

  test('suggests the field that was probably meant', () => {
    expect(refusal(Input({ colour: Type.Optional(Type.String()) }), { color: 'x', y: 1 })).toEqual({
      color: 'This field is not known here; did you mean "colour"?',
      y: 'This field is not known here; remove it.',
    });
  });

  test('suggests the name that another part of the API has for the same', () => {
    const list = Type.Optional(Type.Array(Type.String()));
    expect(refusal(Input({ roles: list, memberships: list }), { roleSlugs: [], groups: [], toString: 1 })).toEqual({
      roleSlugs: 'This field is not known here; did you mean "roles"?',
      groups: 'This field is not known here; did you mean "memberships"?',
      toString: 'This field is not known here; remove it.',
    });
    expect(refusal(Input({ defaultRoles: list }), { roles: [] })).toEqual({
      roles: 'This field is not known here; did you mean "defaultRoles"?',
    });
  });
});

/** Matches the first words of the validator's own messages, of which there is one per kind of error. */
const VALIDATORS = new RegExp(
  `^(?:${[
    ...new Set(
      Object.values(ValueErrorType)
        .filter((type): type is ValueErrorType => typeof type === 'number')
        .map((errorType) => {
          const schema = { type: 'string', format: 'x', maxLength: 1, const: 1, anyOf: [] } as unknown as TSchema;
          return DefaultErrorFunction({ schema, errorType, path: '', value: 1, errors: [] }).split(' ')[0];
        }),
    ),
  ].join('|')})\\b`,
);

const { operations } = (await createInstance()).app;
const schemas = operations.flatMap(({ id, body, query }) => [
  ...(body ? [[`the body of ${id}`, body] as const] : []),
  ...(query ? [[`the parameters of ${id}`, query] as const] : []),
]);

/** Values for every position in a schema. No schema accepts all of them. */
const WRONG: unknown[] = [null, true, -1, 1.5, 1e300, '', long.repeat(6), 'x\u0007y', [], Array(20_000).fill('a'), {}];

/** Yields each position of a schema, as a function that puts a value there. */
function* positions(
  schema: TSchema,
  put: (value: unknown) => unknown,
  depth = 0,
): Generator<(value: unknown) => unknown> {
  yield put;
  if (depth > 6) return;
  for (const [name, part] of Object.entries((schema['properties'] ?? {}) as Record<string, TSchema>))
    yield* positions(part, (value) => put({ [name]: value }), depth + 1);
  if (schema['items']) yield* positions(schema['items'] as TSchema, (value) => put([value]), depth + 1);
  for (const part of (schema['anyOf'] ?? []) as TSchema[]) yield* positions(part, put, depth + 1);
}

/** Yields patterns and formats without a remedy. Their schema must say what they mean. */
function* withoutRemedy(schema: TSchema, at: string): Generator<string> {
  if ((schema['pattern'] ?? schema['format']) !== undefined && !schema['enum'] && !schema['remedy']) yield at;
  for (const [name, part] of Object.entries((schema['properties'] ?? {}) as Record<string, TSchema>))
    yield* withoutRemedy(part, `${at}.${name}`);
  if (schema['items']) yield* withoutRemedy(schema['items'] as TSchema, `${at}[]`);
  for (const part of (schema['anyOf'] ?? []) as TSchema[]) yield* withoutRemedy(part, at);
}

describe('the validator’s own messages', () => {
  test('are recognized by the test', () => {
    for (const theirs of ['Expected string length less or equal to 1000', 'Unexpected property', "Unknown format 'x'"])
      expect(theirs).toMatch(VALIDATORS);
  });

  test.each(schemas)('never appear for %s', (_, schema) => {
    for (const put of positions(schema, (value) => value))
      for (const wrong of WRONG)
        for (const sentence of Object.values(refusal(schema, put(wrong)))) {
          expect(sentence).not.toMatch(VALIDATORS);
          expect(sentence).toMatch(/^[A-Z].*[.?]$/s);
          expect(sentence).not.toContain('what the description of this operation names');
        }
  });

  test.each(schemas)('are not needed, since each pattern in %s has a remedy', (_, schema) => {
    expect([...withoutRemedy(schema, '')]).toEqual([]);
  });
});
