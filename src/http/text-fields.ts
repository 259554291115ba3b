/** Normalises text fields, such as those of a profile, and reports the invalid ones. */
import { countryCode } from '../core/country.ts';
import { currencyCode } from '../core/currency.ts';
import { AppError, type FieldProblem } from '../core/error.ts';
import { canonicalLocale, canonicalTimeZone } from '../core/language.ts';
import { singleLine } from '../core/single-line.ts';

export interface FieldRule {
  /** The error message; never repeats the input. */
  readonly remedy: string;
  /** A required field cannot be cleared. */
  readonly isRequired: boolean;
  /** @returns null for invalid input. */
  normalize(text: string): string | null;
}

type Rules = Readonly<Record<string, FieldRule>>;

/** The input: an absent field stays unchanged; null and blank clear it. */
export type Given<Of extends Rules> = { readonly [Field in keyof Of]?: string | null };

export type Cleaned<Of extends Rules> = {
  [Field in keyof Of]?: Of[Field] extends { readonly isRequired: true } ? string : string | null;
};

/** All fields of a new record, normalised. */
export type Complete<Of extends Rules> = { [Field in keyof Of]-?: Exclude<Cleaned<Of>[Field], undefined> };

const optional = (remedy: string, normalize: FieldRule['normalize']) =>
  ({ remedy: `${remedy} Null clears it.`, isRequired: false, normalize }) as const;

const required = (remedy: string, normalize: FieldRule['normalize']) =>
  ({ remedy, isRequired: true, normalize }) as const;

const lineRemedy = (max: number) => `Give one line of at most ${max} characters, none of them invisible.`;

/** @param max in code points. */
export const line = (max: number) => optional(lineRemedy(max), (text) => singleLine(text, max));
/** @param max in code points. */
export const requiredLine = (max: number) => required(lineRemedy(max), (text) => singleLine(text, max));

const COUNTRY_REMEDY = 'Give the two letters of a country as in ISO 3166-1, such as DE or GB.';
export const country = optional(COUNTRY_REMEDY, countryCode);
export const requiredCountry = required(COUNTRY_REMEDY, countryCode);

export const locale = optional('A BCP 47 language tag, such as de-AT.', (text) => canonicalLocale(text.trim()));
export const requiredLocale = required('A BCP 47 language tag, such as de-AT.', (text) => canonicalLocale(text.trim()));
export const timeZone = optional('Give a time zone of the IANA database, such as Europe/Vienna.', (text) =>
  canonicalTimeZone(text.trim()),
);
export const currency = optional('Give the three letters of a currency as in ISO 4217, such as EUR.', currencyCode);

const MAX_PHONE = 40;
/** Telephone numbers as people write them, with an extension. */
const PHONE = /^(?=.*\d)[\d +()./-]+(?:(?:x|ext\.?) ?\d+)?$/i;

export const phone = optional(
  `Give a telephone number of at most ${MAX_PHONE} digits, spaces and + ( ) - . / with an extension as x or ext.`,
  (text) => {
    const number = singleLine(text, MAX_PHONE);
    return number !== null && PHONE.test(number) ? number : null;
  },
);

/** Accepts one of a few words. The schema refuses others first. */
export const word = (words: readonly string[]) =>
  optional(`Give one of: ${words.join(', ')}.`, (text) => (words.includes(text) ? text : null));

/** @param prefix of the paths in errors. @throws {AppError} invalid_request naming every invalid field. */
export function cleanFields<const Of extends Rules>(rules: Of, given: Given<Of>, prefix = ''): Cleaned<Of> {
  const problems: FieldProblem[] = [];
  const cleaned: Record<string, string | null> = {};
  for (const [path, { remedy, isRequired, normalize }] of Object.entries(rules)) {
    const text = given[path];
    if (text === undefined) continue;
    const isBlank = text === null || text.trim() === '';
    const value = isBlank ? null : normalize(text);
    if (value === null && (isRequired || !isBlank)) problems.push({ path: prefix + path, message: remedy });
    cleaned[path] = value;
  }
  if (problems.length > 0) throw new AppError('invalid_request', { fields: problems });
  return cleaned as Cleaned<Of>;
}

/** Works as {@link cleanFields} for a new record: absent fields become null. The schema enforces the required ones. */
export function completeFields<const Of extends Rules>(rules: Of, given: Given<Of>): Complete<Of> {
  const blank = Object.fromEntries(Object.keys(rules).map((field) => [field, null]));
  return cleanFields(rules, { ...blank, ...given } as Given<Of>) as Complete<Of>;
}

export function differences<Row extends object, Patch extends Partial<Row>>(before: Row, patch: Patch): Partial<Patch> {
  const entries = Object.entries(patch).filter(
    ([field, value]) => value !== undefined && value !== before[field as keyof Row],
  );
  return Object.fromEntries(entries) as Partial<Patch>;
}

export function namesOfSet(cleaned: object): string[] {
  return Object.entries(cleaned).flatMap(([field, value]) => (value === null ? [] : [field]));
}
