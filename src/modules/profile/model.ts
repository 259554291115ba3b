/** Schemas of a person's own profile, and the rules that normalise its fields. */
import { type SchemaOptions, type Static, Type } from '@sinclair/typebox';
import {
  Choice,
  Country,
  Id,
  Input,
  LanguageSchema,
  LanguageTag,
  Nullable,
  PageOf,
  Timestamp,
  TimeZone,
} from '../../http/schemas.ts';
import { ADDRESS_KINDS } from '../../store/addresses.ts';
import { LANGUAGE_LEVELS } from '../../store/languages.ts';
import { GivenOrNull, GivenText, OrNull } from '../../http/identity-input.ts';
import * as fields from '../../http/text-fields.ts';

/** Maximum per person of languages, and per person and workspace of addresses and of legal entities. */
export const MAX_ENTRIES = 50;

const Text = (options: SchemaOptions = {}) => Nullable(Type.String(options));

const MAX_ID = 100;
const GivenId = (what: string) =>
  Type.String({
    minLength: 1,
    maxLength: MAX_ID,
    description: `The id of ${what}.`,
    remedy: `Give the id of ${what}.`,
  });

export const EntryRemoved = Type.Object({ id: Type.String() }, { $id: 'EntryRemoved' });

export const Identity = Type.Object(
  {
    fullName: Text(),
    givenName: Text(),
    familyName: Text(),
    locale: Nullable(LanguageTag()),
    timezone: Nullable(TimeZone()),
    name: Text({ description: 'Display name: the full name, else the joined parts.' }),
  },
  { $id: 'Identity' },
);
export type Identity = Static<typeof Identity>;

export const UsernameInput = Input({
  // Any text is accepted here: the service's refusal lists all rules.
  username: Type.Union([Type.String(), Type.Null()], {
    isAnyText: true,
    remedy: 'Give a username, or null to have none.',
  }),
});

export const Username = Type.Object({ username: Text({ examples: ['ada'] }) });

export const UsernameQuery = Type.Object({
  username: Type.String({
    maxLength: 1000,
    isAnyText: true,
    remedy: 'Give a username.',
    description: 'The username as typed.',
  }),
});

export const UsernameState = Type.Object({
  username: Type.String({ description: 'Normalised.' }),
  status: Choice(['available', 'taken', 'format_invalid']),
});
export type UsernameState = Static<typeof UsernameState>;

const MEASUREMENT_SYSTEMS = ['metric', 'imperial'] as const;

export const REGION_RULES = {
  country: fields.country,
  uiLocale: fields.locale,
  timeZone: fields.timeZone,
  currency: fields.currency,
  measurementSystem: fields.word(MEASUREMENT_SYSTEMS),
} as const;

export const RegionInput = Input(
  {
    country: GivenOrNull(REGION_RULES.country),
    uiLocale: GivenOrNull(REGION_RULES.uiLocale),
    timeZone: GivenOrNull(REGION_RULES.timeZone),
    currency: GivenOrNull(REGION_RULES.currency),
    measurementSystem: OrNull(
      Choice(MEASUREMENT_SYSTEMS, {
        $id: 'MeasurementSystem',
        remedy: `Give one of: ${MEASUREMENT_SYSTEMS.join(', ')}. Null clears it.`,
      }),
    ),
  },
  { $id: 'RegionInput' },
);
export type RegionInput = Static<typeof RegionInput>;

export const ADDRESS_RULES = {
  label: fields.line(100),
  recipient: fields.requiredLine(100),
  company: fields.line(100),
  line1: fields.requiredLine(200),
  line2: fields.line(200),
  city: fields.requiredLine(100),
  region: fields.line(100),
  postalCode: fields.line(20),
  country: fields.requiredCountry,
  phone: fields.phone,
} as const;

const addressFields = {
  label: GivenOrNull(ADDRESS_RULES.label),
  recipient: GivenText(ADDRESS_RULES.recipient),
  company: GivenOrNull(ADDRESS_RULES.company),
  line1: GivenText(ADDRESS_RULES.line1),
  line2: GivenOrNull(ADDRESS_RULES.line2),
  city: GivenText(ADDRESS_RULES.city),
  region: GivenOrNull(ADDRESS_RULES.region),
  postalCode: GivenOrNull(ADDRESS_RULES.postalCode),
  country: GivenText(ADDRESS_RULES.country),
  phone: GivenOrNull(ADDRESS_RULES.phone),
};

const IsDefault = Type.Optional(
  Type.Boolean({
    remedy: 'Give true or false.',
    description: 'Replaces the present default of the kind. The first address of a kind is always the default.',
  }),
);

export const AddressInput = Input(
  { kind: Choice(ADDRESS_KINDS, { $id: 'AddressKind' }), ...addressFields, isDefault: IsDefault },
  { $id: 'AddressInput' },
);
export type AddressInput = Static<typeof AddressInput>;

export const AddressPatch = Input(
  {
    id: GivenId('the address to change'),
    kind: Type.Optional(
      Choice(ADDRESS_KINDS, { $id: 'AddressKind', description: 'Cannot be changed; the present value is accepted.' }),
    ),
    ...Type.Partial(Type.Object(addressFields)).properties,
    isDefault: IsDefault,
  },
  { $id: 'AddressPatch' },
);
export type AddressPatch = Static<typeof AddressPatch>;

export const Address = Type.Object(
  {
    id: Id('adr'),
    kind: Choice(ADDRESS_KINDS, { $id: 'AddressKind' }),
    label: Text(),
    recipient: Type.String(),
    company: Text(),
    line1: Type.String(),
    line2: Text(),
    city: Type.String(),
    region: Text(),
    postalCode: Text(),
    country: Country(),
    phone: Text(),
    isDefault: Type.Boolean(),
    createdAt: Timestamp(),
    updatedAt: Timestamp(),
  },
  { $id: 'Address' },
);
export type Address = Static<typeof Address>;

export const AddressPage = PageOf(Address);

export const AddressQuery = Type.Object({
  kind: Type.Optional(Choice(ADDRESS_KINDS, { $id: 'AddressKind', description: 'Only addresses of this kind.' })),
});
export type AddressQuery = Static<typeof AddressQuery>;

export const IdQuery = Type.Object({ id: Type.Optional(GivenId('what to delete')) });
export const IdInput = Input({ id: Type.Optional(GivenId('what to delete')) });

export const ENTITY_RULES = {
  legalName: fields.requiredLine(200),
  tradeName: fields.line(200),
  registrationNumber: fields.line(50),
  taxId: fields.line(50),
  country: fields.requiredCountry,
} as const;

const entityFields = {
  legalName: GivenText(ENTITY_RULES.legalName),
  tradeName: GivenOrNull(ENTITY_RULES.tradeName),
  registrationNumber: GivenOrNull(ENTITY_RULES.registrationNumber),
  taxId: GivenOrNull(ENTITY_RULES.taxId),
  country: GivenText(ENTITY_RULES.country),
  addressId: OrNull(GivenId('one of your addresses, or null')),
};

export const EntityInput = Input(entityFields, { $id: 'LegalEntityInput' });
export type EntityInput = Static<typeof EntityInput>;

export const EntityPatch = Input(
  { id: GivenId('the legal entity to change'), ...Type.Partial(Type.Object(entityFields)).properties },
  { $id: 'LegalEntityPatch' },
);
export type EntityPatch = Static<typeof EntityPatch>;

export const Entity = Type.Object(
  {
    id: Id('ent'),
    legalName: Type.String(),
    tradeName: Text(),
    registrationNumber: Text(),
    taxId: Text(),
    country: Country(),
    addressId: Nullable(Id('adr')),
    createdAt: Timestamp(),
    updatedAt: Timestamp(),
  },
  { $id: 'LegalEntity' },
);
export type Entity = Static<typeof Entity>;

export const EntityPage = PageOf(Entity);

export const LANGUAGE_RULES = { code: fields.requiredLocale } as const;

const LanguageCode = GivenText(LANGUAGE_RULES.code);

export const LanguageInput = Input(
  { code: LanguageCode, level: Choice(LANGUAGE_LEVELS, { $id: 'LanguageLevel' }) },
  { $id: 'LanguageInput' },
);
export type Language = Static<typeof LanguageInput>;

export const LanguagePage = PageOf(LanguageSchema);

export const CodeQuery = Type.Object({ code: Type.Optional(LanguageCode) });
export const CodeInput = Input({ code: Type.Optional(LanguageCode) });
export const LanguageRemoved = Type.Object({ code: Type.String() });
