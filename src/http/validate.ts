/** Checks input against its schema and turns what is wrong into named fields, never echoing the value. */
import type { Static, TSchema } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler';
import { AppError, type FieldProblem } from '../core/error.ts';
import { remedyFor } from './remedies.ts';

/** Gives the value back with its type. @throws {AppError} invalid_request naming up to 20 fields */
export type Validator<Schema extends TSchema> = (value: unknown) => Static<Schema>;

const MAX_PROBLEMS = 20;

/** A validator that is compiled at its first use, so that start-up does not pay for every schema. */
export function validator<Schema extends TSchema>(schema: Schema): Validator<Schema> {
  let check: TypeCheck<Schema> | undefined;
  return (value) => {
    check ??= TypeCompiler.Compile(schema);
    if (!check.Check(value)) throw new AppError('invalid_request', { fields: problems(check.Errors(value)) });
    const fields = unfitTexts(schema, value);
    if (fields.length > 0) throw new AppError('invalid_request', { fields });
    return value;
  };
}

/** The first flaw of a value: where it is, and whether the field is one that the schema does not know. */
export interface Flaw {
  readonly path: string;
  readonly isUnknown: boolean;
}

/** Returns a function that judges one of many values, so that a wrong one fails alone; null for a sound one. */
export function flawFinder(schema: TSchema): (value: unknown) => Flaw | null {
  let check: TypeCheck<TSchema> | undefined;
  return (value) => {
    check ??= TypeCompiler.Compile(schema);
    const error = check.Check(value) ? undefined : check.Errors(value).First();
    return error ? { path: pathOf(error), isUnknown: error.type === ValueErrorType.ObjectAdditionalProperties } : null;
  };
}

/** As {@link validator}, for the text values of a query string: numbers and booleans are converted first. */
export function queryValidator<Schema extends TSchema>(schema: Schema): Validator<Schema> {
  const validate = validator(schema);
  return (value) => validate(converted(schema, value as Record<string, string>));
}

/** @returns a function that throws {AppError} invalid_request naming the parameters that are not among the known ones. */
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

/** Only what is plainly a whole number or a boolean becomes one; anything else stays text and is refused as such. */
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

const UNFIT_TEXT = 'This text has characters that no text can have, such as NUL; remove them.';

/**
 * Halves of a surrogate pair, which no UTF-8 can hold, and NUL, at which much of what reads a text stops: neither is to be
 * stored. What a field marked `isAnyText` takes is judged by whom it is for, such as a token, which then is a wrong one.
 */
function unfitTexts(schema: TSchema, body: unknown): FieldProblem[] {
  const properties = (schema['properties'] ?? {}) as Record<string, TSchema>;
  const found: FieldProblem[] = [];
  const look = (value: unknown, path: string): void => {
    if (typeof value === 'string') {
      const isFit = value.isWellFormed() && !value.includes('\0');
      if (!isFit && found.length < MAX_PROBLEMS) found.push({ path: path || 'body', message: UNFIT_TEXT });
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
    // The first complaint about a field is the plainest; a missing one is reported as such, not as a wrong type too.
    if (!found.has(path)) found.set(path, { path, message: remedyFor(error) });
    if (found.size === MAX_PROBLEMS) break;
  }
  return [...found.values()];
}

/** Such as `emails.3`; empty for the whole value. */
const pathOf = ({ path }: ValueError): string => path.slice(1).replaceAll('/', '.');
