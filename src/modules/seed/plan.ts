/** A plan: what is to be done, in order, and what each part of it changes. Making one changes nothing. */
import type { Database } from '../../db/database.ts';
import type { TenantApplication } from '../../store/applications.ts';
import { Problems, type Secrets } from './check.ts';
import type { ApplyResult, ChangedKind, SeedApplication, SeedChange } from './model.ts';

/** Where what a step makes known is put. */
export type SeedTold = Pick<ApplyResult, 'skipped' | 'signingSecrets'>;

export interface Step {
  /** Of the part of the document that it carries out. */
  readonly place: string;
  /** None where it belongs to a change that is told already. */
  readonly changes: readonly SeedChange[];
  run(told: SeedTold): Promise<unknown>;
}

export class Plan {
  readonly steps: Step[] = [];
  readonly notes: ApplyResult['notes'] = [];
  /** Users who cannot be added. */
  readonly skipped: ApplyResult['skipped'] = [];
  unchanged = 0;

  constructor(readonly problems: Problems) {}

  add(place: string, changes: readonly SeedChange[], run: Step['run']): void {
    this.steps.push({ place, changes, run });
  }

  note(path: string, message: string): void {
    this.notes.push({ path, message });
  }
}

/** One application of a document, there or to be made. */
export interface Site {
  readonly plan: Plan;
  readonly db: Database;
  readonly secrets: Secrets;
  readonly wanted: SeedApplication;
  /** Its path in the document. */
  readonly place: string;
  /** Null where it is yet to be made. */
  readonly present: TenantApplication | null;
  /** As it is when a step is carried out. */
  open(): Promise<TenantApplication>;
}

/** The fields that are given and differ. */
export function changedFields(
  wanted: Readonly<Record<string, unknown>>,
  present: Readonly<Record<string, unknown>>,
): SeedChange['fields'] {
  return Object.entries(wanted)
    .filter(([field, value]) => value !== undefined && !Bun.deepEquals(value, present[field] ?? null))
    .map(([field, value]) => ({ field, from: JSON.stringify(present[field] ?? null), to: JSON.stringify(value) }));
}

/** A field whose value is nobody's to read. */
export const hiddenDifference = (field: string): SeedChange['fields'][number] => ({ field, from: null, to: null });

export function created(kind: ChangedKind, application: string | null, name: string): SeedChange {
  return { action: 'create', kind, application, name, fields: [] };
}

export function updated(
  kind: ChangedKind,
  application: string | null,
  name: string,
  fields: SeedChange['fields'],
): SeedChange {
  return { action: 'update', kind, application, name, fields };
}
