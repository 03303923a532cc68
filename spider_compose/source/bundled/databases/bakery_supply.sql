CREATE TABLE supplier (
  sup_id INTEGER PRIMARY KEY, -- supplier id
  sup_name TEXT NOT NULL, -- supplier name
  city TEXT,
  organic TEXT
);
CREATE TABLE ingredient (
  ing_id INTEGER PRIMARY KEY, -- ingredient id
  ing_name TEXT NOT NULL, -- ingredient name
  sup_id INTEGER REFERENCES supplier(sup_id), -- supplier id
  price_per_kg REAL, -- price per kilo
  stock_kg REAL -- stock in kilos
);
CREATE TABLE product (
  prod_id INTEGER PRIMARY KEY, -- product id
  prod_name TEXT NOT NULL, -- product name
  category TEXT,
  price REAL,
  baked_daily INTEGER -- number baked daily
);
CREATE TABLE recipe (
  prod_id INTEGER REFERENCES product(prod_id), -- product id
  ing_id INTEGER REFERENCES ingredient(ing_id), -- ingredient id
  grams INTEGER,
  PRIMARY KEY (prod_id, ing_id)
);
CREATE TABLE delivery (
  del_id INTEGER PRIMARY KEY, -- delivery id
  ing_id INTEGER REFERENCES ingredient(ing_id), -- ingredient id
  delivered_on DATE, -- delivery date
  kilos REAL,
  late_by_days INTEGER -- days late
);
INSERT INTO supplier VALUES
 (1, 'Harker''s Mill', 'Bridport', 'yes'),
 (2, 'Golden Dairy', 'Aldwick', 'no'),
 (3, 'Spice & Sons', 'Leith', 'no'),
 (4, 'Orchard Direct', 'Bridport', 'yes'),
 (5, 'Cocoa Verde', 'Leith', 'yes'),
 (6, 'Henrietta Eggs', 'Aldwick', 'yes'),
 (7, 'Saltworks', 'Maldon', 'no');
INSERT INTO ingredient VALUES
 (1, 'strong white flour', 1, 1.2, 420.0),
 (2, 'rye flour', 1, 1.65, 95.0),
 (3, 'butter', 2, 7.9, 60.5),
 (4, 'cream', 2, 4.4, 22.0),
 (5, 'cinnamon', 3, 18.5, 3.2),
 (6, 'cardamom', 3, 42.0, 0.8),
 (7, 'apple', 4, 2.1, 48.0),
 (8, 'dark chocolate', 5, 12.75, 17.5),
 (9, 'egg', 6, 3.8, 35.0),
 (10, 'sea salt', NULL, 2.9, 12.0),
 (11, 'spelt flour', 1, 2.35, 70.0),
 (12, 'raspberry', 4, 9.6, 6.4),
 (13, 'vanilla pod', 3, 210.0, 0.3),
 (14, 'poppy seed', 3, 11.4, 4.5);
INSERT INTO product VALUES
 (1, 'farmhouse loaf', 'bread', 3.2, 80),
 (2, 'dark rye', 'bread', 4.1, 35),
 (3, 'croissant', 'pastry', 1.9, 140),
 (4, 'cinnamon swirl', 'pastry', 2.4, 90),
 (5, 'baker''s apple pie', 'cake', 14.5, 8),
 (6, 'chocolate torte', 'cake', 22.0, 5),
 (7, 'cardamom bun', 'pastry', 2.6, 75),
 (8, 'spelt roll', 'bread', 0.95, 160),
 (9, 'raspberry tart', 'cake', 18.0, 6),
 (10, 'custard slice', 'pastry', 2.95, 40);
INSERT INTO recipe VALUES
 (1, 1, 550), (1, 10, 11), (2, 2, 480), (2, 10, 12), (2, 1, 90),
 (3, 1, 45), (3, 3, 28), (4, 1, 60), (4, 3, 20), (4, 5, 4),
 (5, 7, 750), (5, 3, 160), (5, 1, 260), (5, 5, 6), (6, 8, 400), (6, 9, 300), (6, 3, 220), (6, 10, 3),
 (7, 1, 62), (7, 6, 3), (7, 3, 18), (8, 11, 85), (8, 10, 2), (9, 12, 380), (9, 4, 200), (9, 9, 150),
 (10, 4, 70), (10, 9, 40), (10, 13, 1);
INSERT INTO delivery VALUES
 (1, 1, '2024-02-01', 250.0, 0),
 (2, 3, '2024-02-02', 40.0, 1),
 (3, 9, '2024-02-02', 30.0, 0),
 (4, 2, '2024-02-05', 60.0, 0),
 (5, 5, '2024-02-07', 2.5, 6),
 (6, 7, '2024-02-08', 50.0, 0),
 (7, 8, '2024-02-12', 15.0, 3),
 (8, 1, '2024-02-15', 300.0, 2),
 (9, 4, '2024-02-16', 18.0, 0),
 (10, 6, '2024-02-20', 0.5, 9),
 (11, 12, '2024-02-22', 7.5, 1),
 (12, 3, '2024-02-26', 45.0, 0),
 (13, 11, '2024-03-01', 80.0, 4),
 (14, 9, '2024-03-04', 28.0, 0),
 (15, 1, '2024-03-07', 275.0, 0),
 (16, 4, '2024-03-11', 20.0, NULL);
