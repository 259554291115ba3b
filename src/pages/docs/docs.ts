export interface GuideEntry {
  /** Last segment of its path, `/docs/guides/<slug>`. */
  readonly slug: string;
  readonly title: string;
  readonly summary: string;
  readonly group: string;
}

export interface GuideSection {
  readonly id: string;
  readonly title: string;
  /** Heading level, 2 or 3. */
  readonly level: number;
}

export interface GuideContent {
  /** Trusted HTML without the title. */
  readonly html: string;
  readonly sections: readonly GuideSection[];
}

export interface OutlineTag {
  readonly name: string;
  readonly sentence: string;
  readonly operations: readonly {
    /** Fragment of its place. */
    readonly id: string;
    readonly summary: string;
    /** Method and path. */
    readonly call: string;
    /** Trusted HTML. */
    readonly html: string;
  }[];
}

export interface Docs {
  readonly guides: readonly GuideEntry[];
  contentOf(slug: string): GuideContent;
  markdownOf(slug: string): string;
  /** Returns all contents for agents (llmstxt.org). */
  llmsText(): string;
  /** Paths of the guides' pictures (WebP) by file name. */
  readonly pictures: ReadonlyMap<string, string>;
  referenceOutline(): readonly OutlineTag[];
  /** Returns the index as JSON, which search.ts reads. */
  searchIndex(): Promise<string>;
}
