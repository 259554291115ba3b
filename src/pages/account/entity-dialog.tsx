/** Adds a company, or changes one. */
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Field } from '../components/field.tsx';
import { SelectField } from '../components/select-field.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import { type OwnAddress, addressLine, ENTITIES, type OwnEntity } from './address-api.ts';
import { useAccount } from './account-context.tsx';
import { countryChoices } from './choices.ts';
import { orNull, useForm } from './use-form.ts';

/** As the API bounds them. */
const LENGTHS = { legalName: 200, tradeName: 200, registrationNumber: 50, taxId: 50 };

type TextField = keyof typeof LENGTHS;

interface EntityDialogProps {
  /** Null for a new one. */
  readonly entity: OwnEntity | null;
  readonly addresses: readonly OwnAddress[];
  onSaved(): void;
  onClose(): void;
}

export function EntityDialog({ entity, addresses, onSaved, onClose }: EntityDialogProps) {
  const text = useTexts();
  const toast = useToast();
  const { account, api, fail, withProof } = useAccount();
  const form = useForm(
    {
      legalName: entity?.legalName ?? '',
      tradeName: entity?.tradeName ?? '',
      registrationNumber: entity?.registrationNumber ?? '',
      taxId: entity?.taxId ?? '',
      country: entity ? entity.country : (account.region?.['country'] ?? ''),
      addressId: entity?.addressId ?? '',
    },
    (name) =>
      name in LENGTHS ? text('account.field.line', { max: LENGTHS[name as TextField] }) : text('account.field.invalid'),
  );
  const { values, errors, set } = form;

  async function save(): Promise<void> {
    const missing = (['legalName', 'country'] as const).filter((name) => values[name].trim() === '');
    if (missing.length > 0) {
      form.mark(Object.fromEntries(missing.map((name) => [name, text('account.field.missing')])));
      return document.getElementById(`entity-${missing[0]}`)?.focus();
    }
    const given = {
      legalName: values.legalName,
      tradeName: orNull(values.tradeName),
      registrationNumber: orNull(values.registrationNumber),
      taxId: orNull(values.taxId),
      country: values.country,
      // One that is out of sight here stays.
      ...(values.addressId !== (entity?.addressId ?? '') && { addressId: orNull(values.addressId) }),
    };
    const isSaved = await form.save(async () => {
      const outcome = await withProof({ purpose: 'profile' }, () =>
        entity ? api.send('PATCH', ENTITIES, { id: entity.id, ...given }) : api.send('POST', ENTITIES, given),
      );
      if (outcome?.ok === false)
        if (outcome.code === 'invalid_state') toast(text('account.address.tooMany'), 'bad');
        else fail(outcome);
      return outcome;
    });
    if (!isSaved) return;
    toast(text(entity ? 'account.entity.saved' : 'account.entity.added'));
    onSaved();
  }

  const field = (name: TextField) => ({
    id: `entity-${name}`,
    label: text(`account.entity.${name}`),
    value: values[name],
    error: errors[name] ?? null,
    maxLength: LENGTHS[name],
    onInput: (event: { currentTarget: HTMLInputElement }) => set({ [name]: event.currentTarget.value }),
  });

  const isHidden = values.addressId !== '' && !addresses.some(({ id }) => id === values.addressId);
  const addressChoices = addresses.map((address) => ({
    value: address.id,
    label: [address.label, addressLine(address)].filter(Boolean).join(' · '),
  }));

  return (
    <Dialog
      id="entity-dialog"
      title={text(entity ? 'account.entity.editTitle' : 'account.entity.addTitle')}
      onClose={onClose}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field {...field('legalName')} autocomplete="organization" />
        <Field {...field('tradeName')} />
        <div class="pair">
          <Field {...field('registrationNumber')} />
          <Field {...field('taxId')} />
        </div>
        <SelectField
          id="entity-country"
          label={text('account.address.country')}
          value={values.country}
          choices={countryChoices(text.locale, entity?.country ?? null)}
          none={text('account.address.countryChoose')}
          error={errors.country}
          onChoose={(country) => set({ country })}
        />
        <SelectField
          id="entity-address"
          label={text('account.entity.address')}
          value={values.addressId}
          choices={
            isHidden
              ? [...addressChoices, { value: values.addressId, label: text('account.elsewhere.title') }]
              : addressChoices
          }
          none={text('account.entity.addressNone')}
          error={errors.addressId}
          onChoose={(addressId) => set({ addressId })}
        />
        <div class="dialog-actions">
          <Button look="plain" onClick={onClose}>
            {text('account.cancel')}
          </Button>
          <Button id="entity-save" type="submit" busyText={form.isSaving && text('account.saving')}>
            {text(entity ? 'account.save' : 'account.entity.add')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
