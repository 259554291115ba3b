/** Validates input against its schema and reports errors by field, never echoing the value. */
import type { Static, TSchema } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler';
import { AppError, type FieldProblem } from '../core/error.ts';
import { remedyFor } from './validation-messages.ts';

/** Returns the value with its type. @throws {AppError} invalid_request naming up to 20 fields */
export type Validator<Schema extends TSchema> = (value: unknown) => Static<Schema>;

const MAX_PROBLEMS = 20;

/** Returns a validator that is compiled at its first use, so that startup does not pay for every schema. */
export function validator<Schema extends TSchema>(schema: Schema): Validator<Schema> {
  let check: TypeCheck<Schema> | undefined;
  return (value) => {
    check ??= TypeCompiler.Compile(schema);
    if (!check.Check(value)) throw new AppError('invalid_request', { fields: problems(check.Errors(value)) });
    if (isFit(value)) return value;
    const fields = unfitTexts(schema, value);
    if (fields.length > 0) throw new AppError('invalid_request', { fields });
    return value;
  };
}

/** First error of a value: its path, and whether the schema does not know the field. */
export interface Flaw {
  readonly path: string;
  readonly isUnknown: boolean;
}

/** Returns a function that validates one of many values, so that an invalid one fails alone; null for a valid one. */
export function flawFinder(schema: TSchema): (value: unknown) => Flaw | null {
  let check: TypeCheck<TSchema> | undefined;
  return (value) => {
    check ??= TypeCompiler.Compile(schema);
    const error = check.Check(value) ? undefined : check.Errors(value).First();
    return error ? { path: pathOf(error), isUnknown: error.type === ValueErrorType.ObjectAdditionalProperties } : null;
  };
}

/** Returns a {@link validator} for the text values of a query string; it converts numbers and booleans first. */
export function queryValidator<Schema extends TSchema>(schema: Schema): Validator<Schema> {
  const validate = validator(schema);
  return (value) => validate(converted(schema, value as Record<string, string>));
}

/** Returns a function that throws {AppError} invalid_request naming the unknown parameters. */
export function unknownParameters(known: readonly string[]): (parameters: Record<string, string>) => void {
  const message =
    known.length === 0
      ? 'This list takes no parameters; remove it.'
      : `This parameter is not known here; remove it, or use one of: ${known.join(', ')}.`;
  return (parameters) => {
    const unknown = Object.keys(parameters).filter((name) => !known.includes(name));
    const fields = unknown.slice(0, MAX_PROBLEMS).map((path) => ({ path, message }));
    if (fields.length > 0) throw new AppError('invalid_request', { fields });
  };
}

/** Converts plain whole numbers and booleans; anything else stays text and is refused as such. */
function converted(schema: TSchema, query: Record<string, string>): Record<string, unknown> {
  const properties = schema['properties'] as Record<string, TSchema>;
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => {
      const type: unknown = properties[name]?.['type'];
      if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return [name, Number(text)];
      if (type === 'boolean' && (text === 'true' || text === 'false')) return [name, text === 'true'];
      return [name, text];
    }),
  );
}

/** Returns whether all texts can be stored. Makes no paths, which take most of the time for a body of a megabyte. */
function isFit(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isFit);
  for (const name in value) if (!isFit((value as Record<string, unknown>)[name])) return false;
  return true;
}

const UNFIT_TEXT = 'This text has characters that no text can have, such as NUL; remove them.';

/**
 * Finds texts not to be stored: lone surrogates, which UTF-8 cannot encode, and NUL, at which many readers stop. Skips
 * `isAnyText` fields, such as a token: the operation finds it wrong.
 */
function unfitTexts(schema: TSchema, body: unknown): FieldProblem[] {
  const properties = (schema['properties'] ?? {}) as Record<string, TSchema>;
  const found: FieldProblem[] = [];
  const look = (value: unknown, path: string): void => {
    if (typeof value === 'string') {
      if (!isFit(value) && found.length < MAX_PROBLEMS) found.push({ path: path || 'body', message: UNFIT_TEXT });
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, part] of Object.entries(value)) {
        if (path === '' && properties[name]?.['isAnyText'] === true) continue;
        look(part, path === '' ? name : `${path}.${name}`);
      }
    }
  };
  look(body, '');
  return found;
}

function problems(errors: Iterable<ValueError>): FieldProblem[] {
  const found = new Map<string, FieldProblem>();
  for (const error of errors) {
    const path = pathOf(error) || 'body';
    // Keeps the first error of a field, the plainest: a missing field is not reported as a wrong type too.
    if (!found.has(path)) found.set(path, { path, message: remedyFor(error) });
    if (found.size === MAX_PROBLEMS) break;
  }
  return [...found.values()];
}

/** Returns a path such as `emails.3`; empty for the whole value. */
const pathOf = ({ path }: ValueError): string => path.slice(1).replaceAll('/', '.');
