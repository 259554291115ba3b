/** Form for the reader's country and its currency and units. */
import { Section } from '../components/rows.tsx';
import { SelectField } from '../components/select-field.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import type { OwnAccount } from './account-api.ts';
import { useAccount } from './account-context.tsx';
import { countryChoices, currencyChoices } from './choices.ts';
import { SaveRow } from './save-row.tsx';
import { orNull, useForm } from './use-form.ts';

const SYSTEMS = ['metric', 'imperial'] as const;

export function RegionForm() {
  const text = useTexts();
  const toast = useToast();
  const { account, api, change } = useAccount();
  const { country = null, currency = null, measurementSystem = null } = account.region ?? {};
  const form = useForm(
    { country: country ?? '', currency: currency ?? '', measurementSystem: measurementSystem ?? '' },
    () => text('account.field.invalid'),
    { draft: 'region' },
  );
  const { values, errors, set } = form;

  async function save(): Promise<void> {
    const given = {
      country: orNull(values.country),
      currency: orNull(values.currency),
      measurementSystem: orNull(values.measurementSystem),
    };
    const isSaved = await form.save(() =>
      change(
        { region: { ...account.region, ...given } },
        () => api.send<OwnAccount['region']>('PATCH', '/api/account/profile/region', given),
        (answer) => ({ region: answer }),
      ),
    );
    if (isSaved) toast(text('account.saved'));
  }

  return (
    <Section id="region" title={text('account.profile.region')} lead={text('account.profile.regionLead')}>
      <form
        noValidate
        id="region-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <div class="pair">
          <SelectField
            id="country"
            label={text('account.profile.country')}
            value={values.country}
            choices={countryChoices(text.locale, country)}
            none={text('account.notChosen')}
            autocomplete="country"
            error={errors.country}
            onChoose={(chosen) => set({ country: chosen })}
          />
          <SelectField
            id="currency"
            label={text('account.profile.currency')}
            value={values.currency}
            choices={currencyChoices(text.locale, currency)}
            none={text('account.notChosen')}
            error={errors.currency}
            onChoose={(chosen) => set({ currency: chosen })}
          />
        </div>
        <SelectField
          id="measurementSystem"
          label={text('account.profile.measurement')}
          value={values.measurementSystem}
          choices={SYSTEMS.map((value) => ({ value, label: text(`account.profile.measurement.${value}`) }))}
          none={text('account.notChosen')}
          error={errors.measurementSystem}
          onChoose={(chosen) => set({ measurementSystem: chosen })}
        />
        <SaveRow id="region-save" isSaving={form.isSaving} isChanged={form.isChanged} />
      </form>
    </Section>
  );
}
