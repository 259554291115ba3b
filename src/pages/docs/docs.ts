/** What the pages of the documentation are made from. */

/** A guide as lists of guides show it. */
export interface GuideEntry {
  /** The last part of its address, `/docs/guides/<slug>`. */
  readonly slug: string;
  readonly title: string;
  readonly summary: string;
  /** The heading it stands under in lists. */
  readonly group: string;
}

/** A section of a guide. */
export interface GuideSection {
  /** The fragment that leads to it. */
  readonly id: string;
  readonly title: string;
  /** 2 or 3. */
  readonly level: number;
}

/** A guide as its page shows it. */
export interface GuideContent {
  /** HTML of ours, without the title. */
  readonly html: string;
  readonly sections: readonly GuideSection[];
}

/** The documentation of this instance. */
export interface Docs {
  readonly guides: readonly GuideEntry[];
  contentOf(slug: string): GuideContent;
  markdownOf(slug: string): string;
  /** Everything there is, for programs that read (llmstxt.org). */
  llmsText(): string;
  /** What can be found. */
  searchIndex(): Promise<readonly SearchEntry[]>;
}

/** One place that a search can lead to. */
export interface SearchEntry {
  readonly title: string;
  /** Where it belongs: the guide of a section; method and path of an operation. */
  readonly place: string;
  readonly href: string;
  /** More that it is found by. */
  readonly words?: string;
}
