/** A plan: the steps to run, in order, and the changes each makes. Planning changes nothing. */
import type { Database } from '../../db/database.ts';
import type { TenantApplication } from '../../store/applications.ts';
import { Problems, type Secrets } from './check.ts';
import type { ApplyResult, ChangedKind, SeedApplication, SeedChange } from './model.ts';

export type SeedTold = Pick<ApplyResult, 'skipped' | 'signingSecrets'>;

export interface Step {
  /** The path of the document part that the step carries out. */
  readonly place: string;
  /** Empty if another step already reports the change. */
  readonly changes: readonly SeedChange[];
  run(told: SeedTold): Promise<unknown>;
}

export class Plan {
  readonly steps: Step[] = [];
  readonly notes: ApplyResult['notes'] = [];
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

export interface Site {
  readonly plan: Plan;
  readonly db: Database;
  readonly secrets: Secrets;
  readonly wanted: SeedApplication;
  readonly place: string;
  /** Null if it is still to be created. */
  readonly present: TenantApplication | null;
  /** Loads its current state when a step runs. */
  open(): Promise<TenantApplication>;
}

export function changedFields(
  wanted: Readonly<Record<string, unknown>>,
  present: Readonly<Record<string, unknown>>,
): SeedChange['fields'] {
  return Object.entries(wanted)
    .filter(([field, value]) => value !== undefined && !Bun.deepEquals(value, present[field] ?? null))
    .map(([field, value]) => ({ field, from: JSON.stringify(present[field] ?? null), to: JSON.stringify(value) }));
}

/** A changed field whose value is secret. */
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
