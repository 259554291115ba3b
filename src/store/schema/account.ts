/** Profile data of people: addresses, legal entities and pictures. */
import { blob, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { users } from './users.ts';
import { workspaces } from './workspaces.ts';

export const ADDRESS_KINDS = ['billing', 'shipping'] as const;

const owner = () =>
  text('user_id')
    .notNull()
    .references(() => users.id);

/** The workspace where the entry was made; null for the console. */
const place = () => text('workspace_id').references(() => workspaces.id);

export const userAddresses = sqliteTable('user_addresses', {
  id: text().primaryKey(),
  userId: owner(),
  workspaceId: place(),
  kind: text({ enum: ADDRESS_KINDS }).notNull(),
  label: text(),
  recipient: text().notNull(),
  company: text(),
  line1: text().notNull(),
  line2: text(),
  city: text().notNull(),
  region: text(),
  postalCode: text('postal_code'),
  country: text().notNull(),
  phone: text(),
  /** At most one default per person, workspace and kind. */
  isDefault: integer('is_default', { mode: 'boolean' }).notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

export const legalEntities = sqliteTable('legal_entities', {
  id: text().primaryKey(),
  userId: owner(),
  workspaceId: place(),
  legalName: text('legal_name').notNull(),
  tradeName: text('trade_name'),
  registrationNumber: text('registration_number'),
  taxId: text('tax_id'),
  country: text().notNull(),
  addressId: text('address_id').references(() => userAddresses.id, { onDelete: 'set null' }),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
});

export const IMAGE_KINDS = ['avatar', 'banner'] as const;

export const userImages = sqliteTable(
  'user_images',
  {
    userId: owner(),
    kind: text({ enum: IMAGE_KINDS }).notNull(),
    /** Width in pixels, as in the picture's URL. */
    size: integer().notNull(),
    /** WebP. */
    bytes: blob({ mode: 'buffer' }).notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.kind, table.size] })],
);
