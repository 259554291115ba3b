/** Adds an address, or changes one. */
import { Button } from '../components/button.tsx';
import { Checkbox } from '../components/checkbox.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field } from '../components/field.tsx';
import { SelectField } from '../components/select-field.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import { type OwnAddress, ADDRESS_USES, ADDRESSES } from './address-api.ts';
import { useAccount } from './account-context.tsx';
import { countryChoices } from './choices.ts';
import { orNull, useForm } from './use-form.ts';

/** As the API bounds them. */
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
  /** Null for a new one. */
  readonly address: OwnAddress | null;
  onSaved(): void;
  onClose(): void;
}

export function AddressDialog({ address, onSaved, onClose }: AddressDialogProps) {
  const text = useTexts();
  const toast = useToast();
  const { account, api, fail, withProof } = useAccount();
  const form = useForm(
    {
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
    problemOf,
  );
  const { values, errors, set } = form;

  function problemOf(name: string): string {
    if (name === 'phone') return text('account.field.phone');
    if (name === 'country') return text('account.address.countryChoose');
    return name in LENGTHS
      ? text('account.field.line', { max: LENGTHS[name as TextField] })
      : text('account.field.invalid');
  }

  async function save(): Promise<void> {
    const missing = REQUIRED.filter((name) => values[name].trim() === '');
    if (missing.length > 0) {
      form.mark(Object.fromEntries(missing.map((name) => [name, text('account.field.missing')])));
      return document.getElementById(`address-${missing[0]}`)?.focus();
    }
    const { kind, isDefault, recipient, line1, city, country, ...optional } = values;
    const given = {
      ...Object.fromEntries(Object.entries(optional).map(([name, value]) => [name, orNull(value)])),
      recipient,
      line1,
      city,
      country,
      // The default of a kind stays so until another one is.
      ...(isDefault && { isDefault }),
    };
    const isSaved = await form.save(async () => {
      const outcome = await withProof({ purpose: 'profile' }, () =>
        address
          ? api.send('PATCH', ADDRESSES, { id: address.id, ...given })
          : api.send('POST', ADDRESSES, { kind, ...given }),
      );
      if (outcome?.ok === false)
        if (outcome.code === 'invalid_state') toast(text('account.address.tooMany'), 'bad');
        else fail(outcome);
      return outcome;
    });
    if (!isSaved) return;
    toast(text(address ? 'account.address.saved' : 'account.address.added'));
    onSaved();
  }

  const field = (name: TextField) => ({
    id: `address-${name}`,
    label: text(`account.address.${name}`),
    value: values[name],
    error: errors[name] ?? null,
    maxLength: LENGTHS[name],
    autocomplete: AUTOCOMPLETE[name],
    onInput: (event: { currentTarget: HTMLInputElement }) => set({ [name]: event.currentTarget.value }),
  });

  return (
    <Dialog
      id="address-dialog"
      title={text(address ? 'account.address.editTitle' : 'account.address.addTitle')}
      onClose={onClose}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
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
        <div class="dialog-actions">
          <Button look="plain" onClick={onClose}>
            {text('account.cancel')}
          </Button>
          <Button id="address-save" type="submit" busyText={form.isSaving && text('account.saving')}>
            {text(address ? 'account.save' : 'account.address.add')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
