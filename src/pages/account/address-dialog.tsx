import { Checkbox } from '../components/checkbox.tsx';
import { Field } from '../components/field.tsx';
import { SelectField } from '../components/select-field.tsx';
import { useTexts } from '../components/texts.tsx';
import { type OwnAddress, ADDRESS_USES, ADDRESSES } from './address-api.ts';
import { useAccount } from './account-context.tsx';
import { countryChoices } from './choices.ts';
import { patternOf, type PlaceField, rowsOf } from './address-pattern.ts';
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
    required: ({ country }) => ['country', 'recipient', ...inOrder(country)],
    labelOf: (line) => text(`account.address.${line}`),
    problemOf(name) {
      if (name === 'phone') return text('account.field.phone');
      return name === 'country' ? text('account.address.countryChoose') : null;
    },
    onSaved,
  });
  const { values, errors, set } = form;
  const { labels } = patternOf(values.country);
  const field = (line: TextField) => ({ ...form.field(line), autocomplete: AUTOCOMPLETE[line] });
  /** A field whose label follows the country. */
  const place = (line: PlaceField) => {
    const label = line === 'postalCode' || line === 'region' ? labels[line] : undefined;
    return <Field key={line} {...field(line)} {...(label && { label: text(`account.address.${label}`) })} />;
  };

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
      <div class="pair">
        <Field {...field('recipient')} />
        <Field {...field('company')} />
      </div>
      {rowsOf(values.country, values).map((row) =>
        row.length === 1 ? (
          row.map(place)
        ) : (
          <div class="pair" key={row.join()}>
            {row.map(place)}
          </div>
        ),
      )}
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

/** Returns the required fields of a country as they stand below each other, so that the first missing is focused. */
function inOrder(country: string): PlaceField[] {
  const { rows, required } = patternOf(country);
  return rows.flat().filter((name) => required.includes(name));
}
