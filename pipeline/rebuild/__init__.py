"""Making a group anew from its log: what to tell again, what operators did, and the ledger that takes the old one's place."""
