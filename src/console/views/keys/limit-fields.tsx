/** Rate limits of a key, per minute and per day. */
import { Field } from '../../../pages/components/field.tsx';
import type { CustomProps } from '../../components/form-fields.tsx';
import { count } from '../../components/format.ts';
import type { Key } from './key-calls.ts';

export interface Limits {
  readonly perMinute: string;
  readonly perDay: string;
}

/** API defaults. */
export const DEFAULT_LIMITS: Key['rateLimits'] = { perMinute: 60, perDay: 10_000 };

export const typedLimits = ({ perMinute, perDay }: Key['rateLimits']): Limits => ({
  perMinute: `${perMinute}`,
  perDay: `${perDay}`,
});

/** Passes invalid numbers on, for the API to refuse. */
export const givenLimits = ({ perMinute, perDay }: Limits): Key['rateLimits'] => ({
  perMinute: numberOf(perMinute),
  perDay: numberOf(perDay),
});

function numberOf(text: string): number {
  const digits = text.replaceAll(/[\s,.]/g, '');
  return digits === '' ? Number.NaN : Number(digits);
}

export function LimitFields({ value: limits, errorOf, set }: CustomProps<Limits>) {
  return (
    <div class="pair">
      <Field
        id="key-per-minute"
        label="Calls per minute"
        inputMode="numeric"
        autocomplete="off"
        value={limits.perMinute}
        hint={`Usually ${count(DEFAULT_LIMITS.perMinute)}.`}
        error={errorOf('rateLimits.perMinute')}
        onInput={({ currentTarget }) => set({ ...limits, perMinute: currentTarget.value })}
      />
      <Field
        id="key-per-day"
        label="Calls per day"
        inputMode="numeric"
        autocomplete="off"
        value={limits.perDay}
        hint={`Usually ${count(DEFAULT_LIMITS.perDay)}. Days are in UTC.`}
        error={errorOf('rateLimits.perDay')}
        onInput={({ currentTarget }) => set({ ...limits, perDay: currentTarget.value })}
      />
    </div>
  );
}
