export function pageFiles(): Promise<Readonly<Record<string, string>>>;
