"""The demonstration: a support desk and its CRM, in three languages, from first message to answer."""
