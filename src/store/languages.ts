/** Languages that people speak with their levels, one entry per tag. */
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared } from '../db/statements.ts';
import { type LANGUAGE_LEVELS, userLanguages } from './schema/users.ts';

export { LANGUAGE_LEVELS } from './schema/users.ts';

const { placeholder } = sql;

export type LanguageLevel = (typeof LANGUAGE_LEVELS)[number];

export interface SpokenLanguage {
  /** Canonical BCP 47 tag. */
  readonly code: string;
  readonly level: LanguageLevel;
}

const languagesOf = prepared((db) =>
  db
    .select({ code: userLanguages.code, level: userLanguages.level })
    .from(userLanguages)
    .where(eq(userLanguages.userId, placeholder('userId')))
    .orderBy(userLanguages.code)
    .prepare(),
);

/** Returns a person's languages, by tag. */
export function listLanguages(reader: Reader, userId: string): Promise<SpokenLanguage[]> {
  return languagesOf(reader, { userId });
}

/** Returns the languages of several people, each by tag; people without any are left out. */
export async function listLanguagesOf(
  reader: Reader,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, readonly SpokenLanguage[]>> {
  if (userIds.length === 0) return new Map();
  const rows = await orm(reader)
    .select()
    .from(userLanguages)
    .where(inArray(userLanguages.userId, [...userIds]))
    .orderBy(userLanguages.userId, userLanguages.code);
  return new Map(
    [...Map.groupBy(rows, ({ userId }) => userId)].map(([userId, entries]) => [
      userId,
      entries.map(({ code, level }) => ({ code, level })),
    ]),
  );
}

/** Adds a language that the person does not have yet at any level. */
export async function insertLanguage(unit: Unit, userId: string, { code, level }: SpokenLanguage): Promise<void> {
  await orm(unit).insert(userLanguages).values({ userId, code, level });
}

/** Adds the languages that the person does not have yet. */
export async function insertLanguages(unit: Unit, userId: string, languages: readonly SpokenLanguage[]): Promise<void> {
  if (languages.length === 0) return;
  await orm(unit)
    .insert(userLanguages)
    .values(languages.map(({ code, level }) => ({ userId, code, level })))
    .onConflictDoNothing();
}

export async function updateLanguage(unit: Unit, userId: string, { code, level }: SpokenLanguage): Promise<void> {
  await orm(unit).update(userLanguages).set({ level }).where(entry(userId, code));
}

export async function deleteLanguage(unit: Unit, userId: string, code: string): Promise<void> {
  await orm(unit).delete(userLanguages).where(entry(userId, code));
}

export async function deleteLanguagesOf(unit: Unit, userId: string): Promise<void> {
  await orm(unit).delete(userLanguages).where(eq(userLanguages.userId, userId));
}

const entry = (userId: string, code: string) => and(eq(userLanguages.userId, userId), eq(userLanguages.code, code));
