import { Checkbox } from '../components/checkbox.tsx';
import { Field } from '../components/field.tsx';
import { SelectField } from '../components/select-field.tsx';
import { useTexts } from '../components/texts.tsx';
import { type OwnAddress, ADDRESS_USES, ADDRESSES } from './address-api.ts';
import { useAccount } from './account-context.tsx';
import { countryChoices } from './choices.ts';
import { EntryDialog, useEntryForm } from './entry-form.tsx';
import { orNull } from './use-form.ts';

/** Maximum lengths of the API. */
const LENGTHS = {
  label: 100,
  recipient: 100,
  company: 100,
  line1: 200,
  line2: 200,
  city: 100,
  region: 100,
  postalCode: 20,
  phone: 40,
};

type TextField = keyof typeof LENGTHS;

const AUTOCOMPLETE: Readonly<Partial<Record<TextField, string>>> = {
  recipient: 'name',
  company: 'organization',
  line1: 'address-line1',
  line2: 'address-line2',
  city: 'address-level2',
  region: 'address-level1',
  postalCode: 'postal-code',
  phone: 'tel',
};

const REQUIRED = ['recipient', 'line1', 'city', 'country'] as const;

interface AddressDialogProps {
  readonly address: OwnAddress | null;
  onSaved(): void;
  onClose(): void;
}

export function AddressDialog({ address, onSaved, onClose }: AddressDialogProps) {
  const text = useTexts();
  const { account } = useAccount();
  const form = useEntryForm({
    kind: 'address',
    path: ADDRESSES,
    entryId: address?.id ?? null,
    initial: {
      kind: address?.kind ?? 'shipping',
      label: address?.label ?? '',
      recipient: address ? address.recipient : (account.identity.name ?? ''),
      company: address?.company ?? '',
      line1: address?.line1 ?? '',
      line2: address?.line2 ?? '',
      city: address?.city ?? '',
      region: address?.region ?? '',
      postalCode: address?.postalCode ?? '',
      country: address ? address.country : (account.region?.['country'] ?? ''),
      phone: address?.phone ?? '',
      isDefault: address?.isDefault ?? false,
    },
    lengths: LENGTHS,
    required: REQUIRED,
    labelOf: (line) => text(`account.address.${line}`),
    problemOf(name) {
      if (name === 'phone') return text('account.field.phone');
      return name === 'country' ? text('account.address.countryChoose') : null;
    },
    onSaved,
  });
  const { values, errors, set } = form;
  const field = (line: TextField) => ({ ...form.field(line), autocomplete: AUTOCOMPLETE[line] });

  function save(): Promise<void> {
    const { kind, isDefault, recipient, line1, city, country, ...optional } = values;
    const given = {
      ...Object.fromEntries(Object.entries(optional).map(([name, value]) => [name, orNull(value)])),
      recipient,
      line1,
      city,
      country,
      // Sent only when set: a default stays until another address replaces it.
      ...(isDefault && { isDefault }),
    };
    return form.submit(given, { kind });
  }

  return (
    <EntryDialog kind="address" isNew={address === null} isSaving={form.isSaving} onSubmit={save} onClose={onClose}>
      {!address && (
        <SelectField
          id="address-kind"
          label={text('account.address.kind')}
          value={values.kind}
          choices={ADDRESS_USES.map((value) => ({ value, label: text(`account.address.kind.${value}`) }))}
          error={errors.kind}
          onChoose={(kind) => set({ kind: kind as OwnAddress['kind'] })}
        />
      )}
      <div class="pair">
        <Field {...field('recipient')} />
        <Field {...field('company')} />
      </div>
      <Field {...field('line1')} />
      <Field {...field('line2')} />
      <div class="pair">
        <Field {...field('postalCode')} />
        <Field {...field('city')} />
      </div>
      <div class="pair">
        <Field {...field('region')} />
        <SelectField
          id="address-country"
          label={text('account.address.country')}
          value={values.country}
          choices={countryChoices(text.locale, address?.country ?? null)}
          none={text('account.address.countryChoose')}
          autocomplete="country"
          error={errors.country}
          onChoose={(country) => set({ country })}
        />
      </div>
      <div class="pair">
        <Field {...field('phone')} type="tel" />
        <Field {...field('label')} hint={text('account.address.labelHint')} />
      </div>
      {!address?.isDefault && (
        <Checkbox
          id="address-isDefault"
          label={text('account.address.isDefault')}
          isChecked={values.isDefault}
          onChange={(isDefault) => set({ isDefault })}
        />
      )}
    </EntryDialog>
  );
}
