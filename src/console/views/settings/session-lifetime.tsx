import { useState } from 'preact/hooks';
import { Field } from '../../../pages/components/field.tsx';
import { Select, SelectField } from '../../../pages/components/select-field.tsx';
import { Panel } from '../../components/panel.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { SettingsForm } from './settings-form.tsx';
import { useApplicationPatch } from './use-application-patch.ts';
import { useDraft } from './use-draft.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
const CUSTOM = 'custom';

const LIFETIMES = [
  { value: String(HOUR), label: '1 hour' },
  { value: String(12 * HOUR), label: '12 hours' },
  { value: String(DAY), label: '1 day' },
  { value: String(7 * DAY), label: '7 days' },
  { value: String(30 * DAY), label: '30 days' },
  { value: String(90 * DAY), label: '90 days' },
  { value: String(365 * DAY), label: '1 year' },
];

const UNITS = [
  { value: String(DAY), label: 'days' },
  { value: String(HOUR), label: 'hours' },
  { value: '60', label: 'minutes' },
  { value: '1', label: 'seconds' },
];

export function SessionLifetime({ application }: ApplicationViewProps) {
  const patch = useApplicationPatch(application);
  const draft = useDraft({ sessionTtlSeconds: application.sessionTtlSeconds }, patch);
  const seconds = application.sessionTtlSeconds;
  const isUsual = LIFETIMES.some(({ value }) => value === String(seconds));
  const [isCustom, setIsCustom] = useState(!isUsual);
  const [unit, setUnit] = useState(() => unitOf(seconds));
  return (
    <Panel
      title="Session lifetime"
      lead="After that, people sign in again. Open sessions keep the expiry they were created with."
    >
      <SettingsForm
        id="lifetime"
        draft={{
          ...draft,
          discard() {
            draft.discard();
            setIsCustom(!isUsual);
            setUnit(unitOf(seconds));
          },
        }}
        fields={[
          {
            kind: 'custom',
            name: 'sessionTtlSeconds',
            render: ({ value: seconds, set, errorOf }) => (
              <>
                <SelectField
                  id="lifetime-choice"
                  label="People stay signed in for"
                  value={isCustom ? CUSTOM : String(seconds)}
                  choices={[...LIFETIMES, { value: CUSTOM, label: 'Another time' }]}
                  error={isCustom ? null : errorOf('sessionTtlSeconds')}
                  onChoose={(value) => {
                    setIsCustom(value === CUSTOM);
                    if (value !== CUSTOM) set(Number(value));
                  }}
                />
                {isCustom && (
                  <div class="lifetime">
                    <Field
                      id="lifetime-amount"
                      label="How long"
                      inputMode="numeric"
                      autocomplete="off"
                      value={seconds > 0 ? String(seconds / unit) : ''}
                      hint="From 5 minutes to 365 days."
                      error={errorOf('sessionTtlSeconds')}
                      onInput={({ currentTarget }) => set(Math.round((Number(currentTarget.value) || 0) * unit))}
                    />
                    <Select
                      id="lifetime-unit"
                      label="Unit"
                      value={String(unit)}
                      choices={UNITS}
                      onChoose={(value) => {
                        setUnit(Number(value));
                        set(Math.round((seconds / unit) * Number(value)));
                      }}
                    />
                  </div>
                )}
              </>
            ),
          },
        ]}
      />
    </Panel>
  );
}

/** Returns the largest unit that divides the value. */
function unitOf(seconds: number): number {
  return Number(UNITS.find(({ value }) => seconds % Number(value) === 0)?.value ?? 1);
}
