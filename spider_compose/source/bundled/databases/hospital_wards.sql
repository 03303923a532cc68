CREATE TABLE ward (
  ward_id INTEGER PRIMARY KEY,
  ward_name TEXT NOT NULL,
  floor INTEGER,
  beds INTEGER, -- number of beds
  speciality TEXT
);
CREATE TABLE nurse (
  nurse_id INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL,
  ward_id INTEGER REFERENCES ward(ward_id),
  grade INTEGER,
  hired_on DATE, -- hiring date
  weekly_hours REAL
);
CREATE TABLE patient (
  patient_id INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL,
  birth_year INTEGER,
  blood_group TEXT,
  town TEXT
);
CREATE TABLE admission (
  admission_id INTEGER PRIMARY KEY,
  patient_id INTEGER REFERENCES patient(patient_id),
  ward_id INTEGER REFERENCES ward(ward_id),
  admitted DATE, -- admission date
  discharged DATE, -- discharge date
  reason TEXT,
  cost REAL
);
INSERT INTO ward VALUES
 (1, 'Nightingale', 1, 24, 'general medicine'),
 (2, 'Seacole', 1, 18, 'orthopaedics'),
 (3, 'Blackwell', 2, 12, 'maternity'),
 (4, 'Lister', 3, 16, 'surgery'),
 (5, 'Harvey', 3, 8, 'cardiology'),
 (6, 'Apgar', 2, 10, 'neonatal'),
 (7, 'Osler', 4, 20, 'general medicine'),
 (8, 'St. Luke''s', 4, 6, 'palliative care');
INSERT INTO nurse VALUES
 (1, 'Agnes Morrow', 1, 7, '2008-02-11', 37.5),
 (2, 'Tobias Lindqvist', 1, 5, '2019-09-02', 30.0),
 (3, 'Priya Raman', 2, 6, '2014-06-16', 37.5),
 (4, 'Siobhan O''Dea', 3, 7, '2005-10-03', 24.0),
 (5, 'Marcus Webb', 4, 5, '2021-01-18', 40.0),
 (6, 'Yuki Endo', 4, 6, '2016-04-25', 37.5),
 (7, 'Fatou Diallo', 5, 8, '2001-07-30', 32.0),
 (8, 'Helen Prior', 5, 5, '2022-03-07', 37.5),
 (9, 'Jonas Weiss', 6, 6, '2017-11-13', 20.0),
 (10, 'Carmen Ibáñez', 7, 5, '2020-08-24', 36.0),
 (11, 'Dele Okafor', 7, 7, '2010-05-10', 37.5),
 (12, 'Ruth Abelson', 7, 5, '2023-02-01', 18.0),
 (13, 'Niamh Kerrigan', NULL, 5, '2023-06-19', 37.5),
 (14, 'Piotr Sowa', 2, 5, '2018-01-08', 28.0);
INSERT INTO patient VALUES
 (1, 'Edith Crane', 1938, 'O+', 'Wexley'),
 (2, 'Omar Haddad', 1971, 'A+', 'Wexley'),
 (3, 'Lena Fischer', 1990, 'B-', 'Dunmoor'),
 (4, 'George Tully', 1945, 'A-', 'Saltby'),
 (5, 'Ana Petrova', 1996, 'O+', 'Saltby'),
 (6, 'Kwame Boateng', 1962, 'AB+', 'Dunmoor'),
 (7, 'Iris Valentine', 2001, 'O-', 'Wexley'),
 (8, 'Desmond Flynn', 1951, 'B+', 'Harrowgate'),
 (9, 'Mina Cho', 1985, 'A+', 'Saltby'),
 (10, 'Victor Lund', 1929, 'O+', 'Harrowgate'),
 (11, 'Sara Benali', 1993, NULL, 'Wexley'),
 (12, 'Tom O''Hara', 1979, 'A+', 'Dunmoor'),
 (13, 'Greta Sundin', 1967, 'O-', 'Saltby'),
 (14, 'Jack Norwood', 1998, 'B+', 'Dunmoor');
INSERT INTO admission VALUES
 (1, 1, 1, '2023-01-04', '2023-01-12', 'pneumonia', 4200.0),
 (2, 4, 2, '2023-01-09', '2023-01-21', 'hip fracture', 9150.0),
 (3, 3, 3, '2023-01-15', '2023-01-17', 'childbirth', 2600.0),
 (4, 8, 5, '2023-02-01', '2023-02-09', 'heart failure', 7800.0),
 (5, 2, 4, '2023-02-06', '2023-02-08', 'appendicitis', 3900.0),
 (6, 10, 8, '2023-02-14', '2023-03-20', 'palliative care', 6100.0),
 (7, 5, 3, '2023-02-27', '2023-03-02', 'childbirth', 3150.0),
 (8, 1, 7, '2023-03-05', '2023-03-11', 'fall', 2450.0),
 (9, 6, 5, '2023-03-12', '2023-03-16', 'chest pain', 3300.0),
 (10, 9, 4, '2023-03-30', '2023-04-02', 'gallstones', 5050.0),
 (11, 7, 2, '2023-04-11', '2023-04-13', 'wrist fracture', 1800.0),
 (12, 12, 1, '2023-04-18', '2023-04-25', 'pneumonia', 4700.0),
 (13, 8, 5, '2023-05-03', '2023-05-19', 'heart failure', 12400.0),
 (14, 11, 3, '2023-05-22', '2023-05-24', 'childbirth', 2750.0),
 (15, 1, 1, '2023-06-02', '2023-06-15', 'pneumonia', 5300.0),
 (16, 6, 4, '2023-06-10', '2023-06-20', 'bypass surgery', 21500.0),
 (17, 2, 7, '2023-06-21', NULL, 'fever', NULL),
 (18, 4, 1, '2023-06-25', NULL, 'pneumonia', NULL);
