/** Steps of the script whose answers may differ, each with the reason. Empty is the aim. */
export const accepted: Readonly<Record<string, string>> = {};
