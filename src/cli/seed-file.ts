/** Reads a seed file and validates what can be checked without a server. */
import { readFileSync } from 'node:fs';
import type { Environment } from '../config.ts';
import { AppError, type FieldProblem } from '../core/error.ts';
import { StartupError } from '../core/startup-error.ts';
import { checkDocument, checkForm, type Secrets } from '../modules/seed/check.ts';
import type { SeedDocument } from '../modules/seed/model.ts';
import { jsonErrorPosition } from './json-error-position.ts';
import { readError } from './read-error.ts';

export interface SeedFile {
  readonly document: SeedDocument;
  readonly secrets: Secrets;
}

/** @throws {StartupError} with the file name, every wrong path and its remedy. */
export async function readSeedFile(file: string, environment: Environment): Promise<SeedFile> {
  const secrets: Secrets = (name) => environment[name]?.trim() || undefined;
  let text: string;
  try {
    text = readFileSync(file, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    throw readError(file, error);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const position = jsonErrorPosition(text);
    throw new StartupError(
      `${file} is no JSON${position === null ? '' : `: see ${position}`}. Comments are not allowed.`,
    );
  }
  try {
    const document = checkForm(value);
    (await checkDocument(document, '', secrets)).refuse();
    return { document, secrets };
  } catch (error) {
    throw refusedSeed(file, error);
  }
}

/** Turns a validation error into one line per problem; passes other errors through. */
export function refusedSeed(file: string, error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const { fields = [], message } = error;
  return new StartupError(fields.length > 0 ? problemLines(file, fields) : `${file} cannot be applied: ${message}`);
}

export function problemLines(file: string, fields: readonly FieldProblem[]): string {
  const lines = fields.map(({ path, message }) => `  - ${path}: ${message}`);
  return [`${file} cannot be applied:`, ...lines].join('\n');
}
